"""Safe by default: who is let in, from where, and what an answer may do. Each attack has a name."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from nasty import NASTY
from starlette.testclient import TestClient
from web_desk import ACCESS, BASE, TOKEN, client_of, desk_of, saved

from nearly.web.desk import Desk
from nearly.web.guard import POLICY, Access
from nearly.web.route import ROUTES

COOKIE = {"cookie": f"{ACCESS.cookie}={ACCESS.secret}"}
OURS = COOKIE | {"origin": BASE, "sec-fetch-site": "same-origin"}


@pytest.fixture(scope="module", name="desk")
def _desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return desk_of(found=saved(tmp_path_factory.mktemp("guard"), NASTY))


@pytest.fixture(name="stranger")
def _stranger(desk: Desk) -> TestClient:
    """Somebody without the cookie."""
    return client_of(desk, let_in=False)


def filled(path: str) -> str:
    known = {"result": "found", "name": "web.css"}
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda hole: known.get(hole[1], "0"), path)


ALL = [(spot.method, filled(spot.path)) for spot in ROUTES]
ALL += [("GET", "/static/web.css"), ("GET", "/static/cut.js"), ("GET", "/nothing"), ("GET", "/..")]


@pytest.mark.parametrize(("method", "path"), ALL)
def test_no_route_answers_without_the_cookie(stranger: TestClient, method: str, path: str) -> None:
    answer = stranger.request(method, path, follow_redirects=False)
    assert answer.status_code == 401
    assert "token" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(("method", "path"), ALL)
def test_every_answer_has_the_policy(desk: Desk, method: str, path: str) -> None:
    for client in (client_of(desk), client_of(desk, let_in=False)):
        answer = client.request(method, path, headers=OURS, follow_redirects=False)
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in answer.headers
        assert answer.status_code < 500


def test_the_policy_lets_nothing_in_from_elsewhere() -> None:
    parts = dict(part.strip().split(" ", 1) for part in POLICY.split(";"))
    assert parts.pop("default-src") == "'none'"
    assert set(parts.values()) == {"'self'", "'none'"}
    assert "unsafe" not in POLICY
    assert parts["frame-ancestors"] == parts["base-uri"] == "'none'"


HOSTS = {
    "dns rebinding": "evil.example:8017",
    "dns rebinding without a port": "evil.example",
    "another port": "127.0.0.1:9999",
    "no port": "127.0.0.1",
    "a name that begins like ours": "127.0.0.1.evil.example:8017",
    "a name that ends like ours": "evil-localhost:8017",
    "user information": "evil@127.0.0.1:8017",
    "an empty host": "",
    "a whole number": "2130706433:8017",
    "the address of all": "0.0.0.0:8017",
    "a trailing dot": "localhost.:8017",
    "two hosts in one": "127.0.0.1:8017, evil.example",
}


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS.keys())
def test_a_wrong_host_is_refused_before_the_token_counts(desk: Desk, host: str) -> None:
    client = client_of(desk)
    for path in ("/", f"/?token={TOKEN}"):
        answer = client.get(path, headers=COOKIE | {"host": host}, follow_redirects=False)
        assert answer.status_code == 421
        assert "set-cookie" not in answer.headers
        assert "evil" not in answer.text


def test_two_host_headers_are_refused(desk: Desk) -> None:
    headers = [("host", "127.0.0.1:8017"), ("host", "evil.example"), *COOKIE.items()]
    assert client_of(desk, let_in=False).get("/", headers=headers).status_code == 421


TOKENS = {
    "no token": "",
    "a guess": "guess",
    "the beginning of the token": TOKEN[:-1],
    "more than the token": TOKEN + "a",
    "other case": TOKEN.upper(),
    "the secret of the cookie": ACCESS.secret,
    "not ASCII": "tökèn",
    "a wrong one before the right one": f"x&token={TOKEN}",
}


@pytest.mark.parametrize("given", TOKENS.values(), ids=TOKENS.keys())
def test_a_wrong_token_opens_nothing(stranger: TestClient, given: str) -> None:
    answer = stranger.get(f"/?token={given}", follow_redirects=False)
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    bearer = stranger.get("/", headers={"authorization": f"Bearer {given}".encode()})
    assert bearer.status_code == 401


COOKIES = {
    "the token itself": TOKEN,
    "an empty one": "",
    "the beginning": ACCESS.secret[:-1],
    "of another token": Access(port=8017, token=TOKEN[::-1]).secret,
}


@pytest.mark.parametrize("given", COOKIES.values(), ids=COOKIES.keys())
def test_a_wrong_cookie_opens_nothing(stranger: TestClient, given: str) -> None:
    answer = stranger.get("/", headers={"cookie": f"{ACCESS.cookie}={given}"})
    assert answer.status_code == 401


def test_the_cookie_of_another_port_opens_nothing(stranger: TestClient) -> None:
    assert stranger.get("/", headers={"cookie": f"nearly-1={ACCESS.secret}"}).status_code == 401


def test_a_cookie_that_is_none_is_no_error(stranger: TestClient) -> None:
    for junk in ('=;;="', 'a="\\', "nearly-8017", "[]=1; nearly-8017=x"):
        assert stranger.get("/", headers={"cookie": junk}).status_code == 401


def test_the_token_becomes_a_strict_cookie_and_leaves_the_address(stranger: TestClient) -> None:
    answer = stranger.get(f"/r/found/pairs?low=0.5&token={TOKEN}", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/r/found/pairs?low=0.5"
    cookie = answer.headers["set-cookie"]
    assert "httponly" in cookie.lower()
    assert "samesite=strict" in cookie.lower()
    assert TOKEN not in cookie
    assert stranger.get("/r/found/pairs").status_code == 200


def test_the_token_leads_nowhere_else(stranger: TestClient) -> None:
    for path in ("//evil.example/x", "/\\evil.example", "///evil.example"):
        answer = stranger.get(f"{BASE}{path}?token={TOKEN}", follow_redirects=False)
        assert re.match(r"/[^/\\]", answer.headers.get("location", "/x"))


def test_a_bearer_token_is_for_programs(stranger: TestClient) -> None:
    headers = {"authorization": f"Bearer {TOKEN}", "accept": "application/json"}
    assert stranger.get("/", headers=headers).json()["results"]
    kept = stranger.post("/r/found/pair/0/mark", headers=headers, data={"mark": "unsure"})
    assert kept.status_code == 200


CHANGES = {
    "a form of another site": {"origin": "https://evil.example", "sec-fetch-site": "cross-site"},
    "another site without an origin": {"sec-fetch-site": "cross-site"},
    "another port of this host": {"origin": "http://127.0.0.1:9", "sec-fetch-site": "same-site"},
    "another port that hides its site": {"origin": "http://127.0.0.1:9"},
    "a sandboxed frame": {"origin": "null", "sec-fetch-site": "cross-site"},
    "no origin that hides its site": {"origin": "null"},
    "an old browser that says nothing": {},
    "typed into the address bar": {"sec-fetch-site": "none"},
    "an origin that begins like ours": {"origin": BASE + ".evil.example"},
    "our origin but another site": {"origin": BASE, "sec-fetch-site": "cross-site"},
    "another origin but our site": {"origin": "http://evil", "sec-fetch-site": "same-origin"},
}


@pytest.mark.parametrize("headers", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_from_elsewhere_is_refused(desk: Desk, headers: dict[str, str]) -> None:
    client = client_of(desk)
    before = desk.result("found").marks.known()
    for spot in ROUTES:
        if spot.method == "POST":
            data = {"mark": "same", "to": "/", "hidden": "1"}
            answer = client.post(filled(spot.path), data=data, headers=headers)
            assert answer.status_code == 403
    assert desk.result("found").marks.known() == before


def test_a_change_from_our_page_is_made(desk: Desk) -> None:
    answer = client_of(desk).post("/r/found/pair/1/mark", data={"mark": "same"}, headers=OURS)
    assert answer.status_code == 200
    assert desk.result("found").marks.known()[1].mark == "same"


def test_a_change_cannot_be_made_by_looking(desk: Desk) -> None:
    for spot in ROUTES:
        if spot.method == "POST":
            assert client_of(desk).get(filled(spot.path)).status_code in (404, 405)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "X"])
def test_other_methods_are_refused(desk: Desk, method: str) -> None:
    assert client_of(desk).request(method, "/", headers=OURS).status_code == 405


def test_an_image_or_script_of_another_page_gets_nothing(desk: Desk) -> None:
    for mode in ("no-cors", "cors", "same-origin"):
        headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": mode}
        assert client_of(desk).get("/r/found/pairs", headers=headers).status_code == 403


def test_a_body_that_is_too_large_is_refused(desk: Desk) -> None:
    data = {"mark": "same", "note": "x" * 70_000}
    answer = client_of(desk).post("/r/found/pair/0/mark", data=data, headers=OURS)
    assert answer.status_code == 413


def test_a_body_that_hides_its_size_is_refused(desk: Desk) -> None:
    def body() -> Iterator[bytes]:
        for _ in range(100):
            yield b"note=" + b"x" * 1_000 + b"&"

    headers = OURS | {"content-type": "application/x-www-form-urlencoded"}
    answer = client_of(desk).post("/r/found/pair/0/mark", content=body(), headers=headers)
    assert answer.status_code == 413


def test_a_size_that_is_no_number_is_refused(desk: Desk) -> None:
    for size in ("-1", "many", "1e3"):
        headers = OURS | {"content-length": size}
        assert client_of(desk).post("/names", headers=headers).status_code in (400, 413)


def test_a_form_of_too_many_fields_is_refused(desk: Desk) -> None:
    data = {f"field{number}": "x" for number in range(200)}
    answer = client_of(desk).post("/names", data=data, headers=OURS)
    assert answer.status_code in (400, 413)


def test_files_are_taken_at_one_place_only(desk: Desk) -> None:
    files = {"file": ("a.txt", b"some words")}
    answer = client_of(desk).post("/names", files=files, headers=OURS)
    assert answer.status_code == 400


PATHS = [
    "/static/../guard.py",
    "/static/..%2fguard.py",
    "/static/%2e%2e/%2e%2e/errors.py",
    "/static/%00web.css",
    "/static//etc/passwd",
    "/static/web.css/",
    "/static/__init__.py",
    "/r/../../etc/overview",
    "/r/%2e%2e/overview",
    "/r/%2fetc/overview",
    "/r/found%00/overview",
    "/r/found.view/overview",
    "/r/found/pair/-1",
    "/r/found/pair/0.5",
    "/r/found/pair/99999999999999999999",
    "/r/found/pair/%D9%A3",
    "/r/found/cluster/1;drop table",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_climbs_or_lies_leads_nowhere(desk: Desk, path: str) -> None:
    answer = client_of(desk).get(f"{BASE}{path}", follow_redirects=False)
    assert answer.status_code in (307, 400, 404)
    assert "Traceback" not in answer.text
    assert "root:" not in answer.text


QUERIES = [
    "low=nan",
    "low=inf",
    "low=1;2",
    "page=-1",
    "page=1e9",
    "mark=maybe",
    "difference=digits",
    "document=1000000",
    "document=-1",
    "text=" + "x" * 300,
    "name=" + "%" * 201,
]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query[:20])
def test_a_wrong_query_is_an_error_in_words(desk: Desk, query: str) -> None:
    answer = client_of(desk).get(f"/r/found/pairs?{query}")
    assert answer.status_code == 400
    assert "This cannot be done" in answer.text


@pytest.mark.parametrize("words", ["'; DROP TABLE pairs; --", "%_[^", "(a+)+$", "\\", "<b>"])
def test_words_are_looked_for_as_they_are(desk: Desk, words: str) -> None:
    for field in ("name", "text"):
        answer = client_of(desk).get("/r/found/pairs", params={field: words})
        assert answer.status_code == 200
        assert "<b>" not in answer.text


@pytest.mark.parametrize(
    "to",
    ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:1", "/a\r\nb: c"],
)
def test_after_a_change_the_way_leads_home(desk: Desk, to: str) -> None:
    answer = client_of(desk).post(
        "/names", data={"to": to, "hidden": "1"}, headers=OURS, follow_redirects=False
    )
    assert answer.headers["location"] == "/"


def test_an_error_tells_nothing_of_the_inside(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    answer = client_of(desk_of(broken=tmp_path / "broken")).get("/r/broken/overview")
    assert answer.status_code in (400, 404, 500)
    assert "Traceback" not in answer.text
    assert "site-packages" not in answer.text
