"""Pure functions and small readers under the jobs; usable without mrjob."""
