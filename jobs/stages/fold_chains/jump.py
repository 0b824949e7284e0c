"""Each key gets the target of its target, so that chains of twice the length come to their end."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.mapreduce.job import Job, KeyValue

OPEN, DONE = b"open", b"done"
ANSWER, QUESTION = b"0", b"1"  # of a key: its own target sorts before the keys that ask for it


class FoldChainsJump(Job):
    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        key, target, rest = line.split(b"\t", 2)
        yield key, b"%s\t%s\t%s" % (ANSWER, target, rest)
        if rest.endswith(OPEN):
            yield target, b"%s\t%s\t%s" % (QUESTION, key, rest)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        end, more, state = key, 0, DONE  # unless the key has a line
        for order, named, kind, hops, named_state in (value.split(b"\t") for value in values):
            if order == ANSWER:
                end, more, state = named, int(hops), named_state
                if state == DONE:
                    yield b"\t".join((key, named, kind, hops, state))
                continue
            self.counts["ended"] += state == DONE
            yield b"\t".join((named, end, kind, b"%d" % (int(hops) + more), state))


if __name__ == "__main__":
    FoldChainsJump.run()
