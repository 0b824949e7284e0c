"""What the made site consists of: plain pages by the dozen, and one part for each oddity."""

from __future__ import annotations

import random
from collections.abc import Sequence

from heritrix.made_site import Document, Site, spelled

PAGES = 56  # plain pages of a host
LEAVES = 6
DEEP = 12
SESSION = "0123456789ABCDEF0123456789ABCDEF"

CHANGING = "/news.html"
TRAPS = (
    '<select><option value="{}">choose</option></select>',
    '<input type="hidden" value="{}">',
    '<object><param name="movie" value="{}"></object>',
    '<!-- <a href="{}">gone</a> -->',
    '<script>/* <a href="{}"> */</script>',
    "<textarea><a href={}>text</a></textarea>",
)
TEXTAREA_TRAP = 5  # markup that a browser shows as text, and Heritrix takes for a link


def make_site(hosts: Sequence[str], *, seed: int = 1, crawl: int = 1) -> Site:
    """The site as crawl 1, 2, … finds it: one page and its links change between them."""
    site, rng = Site(hosts), random.Random(seed)
    for host in hosts:
        front_page(site, host)
        hub(site, host)
        plain_pages(site, host, rng)
        leaves(site, host)
        deep_pages(site, host)
        for part in (redirects, errors, with_base, spellings, same_pages, markup, traps):
            part(site, host)
        news(site, host, crawl)
        site.text(f"{host}/robots.txt", "User-agent: *\nDisallow: /private/\n", "text/plain")
        site.text(f"{host}/style.css", "h1 { color: #333 }", "text/css")
        site.text(f"{host}/logo.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml")
    return site


def front_page(site: Site, host: str) -> None:
    document = Document(site, f"{host}/")
    document.embed(f"{host}/style.css", '<link rel="stylesheet" href="{}">')
    document.embed(f"{host}/logo.svg", '<img src="{}" alt="">')
    for path in ("/hub.html", "/deep/1.html", "/odd/index.html", CHANGING, "/p/0.html"):
        document.link(host + path)
    for other in site.hosts:
        document.link(f"{other}/")
    document.done()


def hub(site: Site, host: str) -> None:
    document = Document(site, f"{host}/hub.html")
    for number in range(0, PAGES, 7):
        document.link(f"{host}/p/{number}.html")
    document.done()


def plain_pages(site: Site, host: str, rng: random.Random) -> None:
    """A tree three wide, and links that prefer low numbers, some to other hosts."""
    for number in range(PAGES):
        document = Document(site, f"{host}/p/{number}.html")
        for child in range(3 * number + 1, min(3 * number + 4, PAGES)):
            spelled(document, f"{host}/p/{child}.html", rng)
        for _ in range(rng.randrange(5)):
            target = f"{rng.choice(site.hosts)}/p/{int(PAGES * rng.random() ** 3)}.html"
            spelled(document, target, rng)
        if number < LEAVES:
            document.link(f"{host}/leaf/{number}.html")
        document.link(f"{host}/")
        document.done()


def leaves(site: Site, host: str) -> None:
    """Pages that link to nothing."""
    for number in range(LEAVES):
        Document(site, f"{host}/leaf/{number}.html").done()


def deep_pages(site: Site, host: str) -> None:
    for number in range(1, DEEP + 1):
        document = Document(site, f"{host}/deep/{number}.html")
        if number < DEEP:
            document.link(f"{host}/deep/{number + 1}.html")
        document.done()


def redirects(site: Site, host: str) -> None:
    document = Document(site, f"{host}/odd/index.html")
    for path in ("/go/301", "/go/302", "/go/1", "/go/round", "/go/away", "/go/meta.html"):
        document.link(host + path)
    for name in ("errors", "base", "spellings", "same", "markup", "traps"):
        document.link(f"{host}/odd/{name}.html")
    document.done()
    other = site.hosts[(site.hosts.index(host) + 1) % len(site.hosts)]
    site.redirect(f"{host}/go/301", f"{host}/p/3.html", 301, "../p/3.html#part")
    site.redirect(f"{host}/go/302", f"{host}/p/4.html", 302)
    site.redirect(f"{host}/go/away", f"{other}/p/5.html", 302)
    for step in (1, 2):
        site.redirect(f"{host}/go/{step}", f"{host}/go/{step + 1}", 301 + step % 2)
    site.redirect(f"{host}/go/3", f"{host}/p/6.html", 301)
    site.redirect(f"{host}/go/round", f"{host}/go/and", 302)
    site.redirect(f"{host}/go/and", f"{host}/go/round", 302)
    refresh = f'<meta http-equiv="refresh" content="0; url={host}/p/7.html">'
    document = Document(site, f"{host}/go/meta.html", refresh)
    document.note(f"{host}/p/7.html", "R", "meta refresh")
    document.done()


def errors(site: Site, host: str) -> None:
    document = Document(site, f"{host}/odd/errors.html")
    for path in ("/missing/1.html", "/missing/2.html", "/broken.html", "/private/secret.html"):
        document.link(host + path)
    document.done()
    broken = Document(site, f"{host}/broken.html")
    broken.done(status=500)


def with_base(site: Site, host: str) -> None:
    base = f"{host}/elsewhere/below/"
    site.traps.add(base)
    document = Document(site, f"{host}/odd/base.html", f'<base href="{base}">')
    document.link(f"{host}/elsewhere/below/one.html", "one.html", "base")
    document.link(f"{host}/elsewhere/two.html", "../two.html", "base")
    document.done()
    for path in ("/elsewhere/below/one.html", "/elsewhere/two.html"):
        Document(site, host + path).done()


#: what a page writes, and the path that Heritrix asks for
ODD_PATHS = (
    ("/Mixed/Case.html", "/Mixed/Case.html"),
    ("/mixed/case.html", "/mixed/case.html"),
    ("/find?a=1&b=2", "/find?a=1&b=2"),
    ("/find?b=2&a=1", "/find?b=2&a=1"),
    ("/find?", "/find"),
    (f"/shop/view;jsessionid={SESSION}", f"/shop/view;jsessionid={SESSION}"),
    ("/shop/view", "/shop/view"),
    (f"/shop/list?PHPSESSID={SESSION}&page=2", f"/shop/list?PHPSESSID={SESSION}&page=2"),
    ("/caf\xe9.html", "/caf%C3%A9.html"),
    ("/caf%c3%a9.html", "/caf%c3%a9.html"),
    ("/with blank.html", "/with%20blank.html"),
    ("/with%20blank.html", "/with%20blank.html"),
    ("/%7Euser/", "/%7Euser/"),
    ("/~user/", "/~user/"),
    ("/double//slash.html", "/double//slash.html"),
    ("/up/../and/./down/../over.html", "/and/over.html"),
    ("\\back\\slash.html", "/back/slash.html"),
    ("/%e4%bd%a0/\u4f60?\u597d=1", "/%e4%bd%a0/%E4%BD%A0?%E5%A5%BD=1"),
)


def spellings(site: Site, host: str) -> None:
    document = Document(site, f"{host}/odd/spellings.html")
    for written, path in ODD_PATHS:
        document.link(host + path, written, "odd path")
        if host + path not in site.answers:
            Document(site, host + path).done()
    port = host.rpartition(":")[2]
    for name, resolved in (
        (f"b\xfccher.example:{port}", f"xn--bcher-kva.example:{port}"),
        ("WWW.Example.ORG", "www.example.org"),
        ("192.0.2.1:80", "192.0.2.1"),
    ):
        document.link(f"http://{resolved}/", f"http://{name}/", "odd host")
    document.done()


def same_pages(site: Site, host: str) -> None:
    """Two pages of the same bytes."""
    document = Document(site, f"{host}/odd/same.html")
    for number in (1, 2):
        document.link(f"{host}/same/{number}.html")
        site.text(f"{host}/same/{number}.html", "<p>the same</p>", "text/html")
    document.done()


def markup(site: Site, host: str) -> None:
    """Links in other elements, asked not to be followed, or written carelessly."""
    document = Document(site, f"{host}/odd/markup.html")
    document.link(f"{host}/p/8.html", how="nofollow", attributes='rel="nofollow"')
    document.link(document.uri, "#top", "to itself")
    document.link(f"{host}/p/9.html")
    document.link(f"{host}/p/9.html", how="twice")
    for number, text in (
        (10, "<A HREF={}>no quotes</A>"),
        (11, "<a\n class='x'\n href = '{}' >single quotes</a>"),
        (12, '<map name="m"><area shape="default" href="{}" alt=""></map>'),
    ):
        target = f"{host}/p/{number}.html"
        document.parts.append(text.format(target))
        document.note(target, "L", "markup")
    document.done()


def traps(site: Site, host: str) -> None:
    """What looks like a link: none of these is one."""
    document = Document(site, f"{host}/odd/traps.html")
    for number, text in enumerate(TRAPS):
        document.trap(f"{host}/trap/{number}.html", text)
    document.parts.append('<a href="mailto:a@example.org">mail</a><a href="javascript:go()">go</a>')
    document.done()


def news(site: Site, host: str, crawl: int) -> None:
    document = Document(site, host + CHANGING)
    document.parts.append(f"<p>number {crawl}</p>")
    document.link(f"{host}/p/{20 + crawl}.html")
    document.link(f"{host}/news/{crawl}.html")
    document.done()
    Document(site, f"{host}/news/{crawl}.html").done()
