"""The command crawlrank, by that name or as `python -m crawlrank`."""

from __future__ import annotations


def main() -> None:
    from crawlrank.pipeline.__main__ import main as command

    command()


if __name__ == "__main__":
    main()
