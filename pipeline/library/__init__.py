"""The functions of `import crawlrank`: rankings of graphs in memory, work folders, and commands."""
