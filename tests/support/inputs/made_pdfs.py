"""PDFs object by object, as ISO 32000-1 has them: any object may be replaced by another."""

from __future__ import annotations

from collections.abc import Mapping

Objects = dict[int, bytes]
CATALOGUE, TREE = 1, 2


def link(action: str) -> str:
    return f"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A {action}>>"


def uri_action(uri: str) -> str:
    return f"<</S/URI/URI {uri}>>"


def written(objects: Mapping[int, bytes], *, listed: bool = True, at: int = 0) -> bytes:
    """A file with these objects. listed: whether a table says where they are; at: how far it is
    wrong."""
    parts, places, position = [b"%PDF-1.4\n"], dict[int, int](), 9
    for number, content in objects.items():
        places[number] = position
        parts.append(b"%d 0 obj\n%b\nendobj\n" % (number, content))
        position += len(parts[-1])
    size = max(objects) + 1
    table = [b"xref\n0 1\n0000000000 65535 f \n"]
    for number in sorted(places) if listed else ():
        table.append(b"%d 1\n%010d 00000 n \n" % (number, places[number] + at))
    table.append(b"trailer<</Size %d/Root %d 0 R>>\n" % (size, CATALOGUE))
    return b"".join([*parts, *table, b"startxref\n%d\n%%%%EOF\n" % position])


def of_annotations(*annotations: str, catalogue: str = "", annots: str = "") -> Objects:
    """A page with these annotations, in an array of its own or, if annots is given, in that."""
    array = annots or f"[{' '.join(annotations)}]"
    return {
        CATALOGUE: f"<</Type/Catalog/Pages 2 0 R{catalogue}>>".encode(),
        TREE: b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        3: f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Annots {array}>>".encode(),
    }


def of_pages(count: int, each: int) -> tuple[Objects, dict[int, set[str]]]:
    """A file in which each part is an object, and the objects that each link depends on: of
    count pages, which stand in two parts of the tree, with these numbers of links."""
    objects, needs, number = dict[int, bytes](), dict[int, set[str]](), 10
    halves: dict[int, list[int]] = {3: [], 4: []}
    for page in range(count):
        own, array = number, number + 1
        number += 2
        half = 3 + page % 2
        halves[half].append(own)
        annotations = []
        for _ in range(each):
            annotation, action, text = number, number + 1, number + 2
            uri, number = f"http://h/{annotation}", number + 3
            objects[annotation] = link(f"{action} 0 R").encode()
            objects[action] = uri_action(f"{text} 0 R").encode()
            objects[text] = f"({uri})".encode()
            annotations.append(annotation)
            for needed in (half, half + 2, own, array, annotation, action, text):
                needs.setdefault(needed, set()).add(uri)
        objects[array] = _array(annotations)
        objects[own] = b"<</Type/Page/Parent %d 0 R/Annots %d 0 R>>" % (half, array)
    for half, pages in halves.items():
        objects[half] = b"<</Type/Pages/Parent 2 0 R/Kids %d 0 R>>" % (half + 2)
        objects[half + 2] = _array(pages)
    objects[TREE] = b"<</Type/Pages/Kids[3 0 R 4 0 R]/Count %d>>" % count
    objects[CATALOGUE] = b"<</Type/Catalog/Pages 2 0 R>>"
    return dict(sorted(objects.items())), needs


def _array(numbers: list[int]) -> bytes:
    return b"[%b]" % b" ".join(b"%d 0 R" % number for number in numbers)
