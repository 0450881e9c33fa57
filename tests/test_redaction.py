"""Secrets go, everything that only looks like one stays byte for byte."""

from __future__ import annotations

import base64
import string
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.session import REDACTION_MARK
from gitmem.redaction import find_secrets, marks, redact, redact_continuation

# Made up, and put together here so that no scanner takes this file for a leak.
MIXED = "aB3dE5fG7hJ9kL1mN0pQrS2tU4vW6xY8z"
GITHUB = "ghp_" + "a1B2c3D4e5F6" * 3
AWS = "AKIA" + "Z7QWERTY1234ABCD"
BASE64_LINE = "MIIEowIBAAKCAQEA1234567890abcdefghij"
BEGIN, END = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"

KEYS = {
    "aws": AWS,
    "github": GITHUB,
    "github fine-grained": "github_pat_" + "11ABCDEFG0" + MIXED + "_" + MIXED + "abcde",
    "gitlab": "glpat-" + "aB3dE5fG7hJ9kL1mN0pQ",
    "slack": "xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKl",
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "openai": "sk-" + MIXED,
    "openai project": "sk-proj-" + MIXED * 2,
    "deepseek": "sk-" + "0123456789abcdef" * 2,
    "anthropic": "sk-ant-api03-" + MIXED * 2,
    "google": "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "npm": "npm_" + "a1B2c3D4e5F6" * 3,
    "pypi": "pypi-" + "AgEIcHlwaS5vcmcCJDk2" + MIXED,
    "aliyun": "LTAI" + "5tQ9abcdEFGH1234zzzz",
    "tencent": "AKID" + "z8krbsJ5yKBZQpn74WFkmLPx3gnPhESA",
    "sendgrid": "SG." + "aBcDeFgHiJkLmNoPqRsTu1" + "." + "aB3dE5fG7h" * 4 + "abc",
    "discord": "M" + "TE4NzY1NDMyMTA5ODc2NTQzMg" + ".GabcDe." + "abcdefghijklmnopqrstuvwxyz1",
    "twilio": "SK" + "0123456789abcdef" * 2,
    "mailchimp": "0123456789abcdef" * 2 + "-us12",
    "square": "sq0csp-" + "aB3dE5fG7h" * 4 + "abc",
    "artifactory": "AKC" + "p5budTFpbypBqbjGPnCZ1",
    "jwt": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0." + "abcdefGHIJKL123",
    "private key": f"{BEGIN}\n{BASE64_LINE}\n{BASE64_LINE}\n{END}",
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("around", ["{}", "KEY={}", 'key: "{}",', "用这个 {}。", "see ({}) now"])
def test_a_key_of_a_known_form_is_masked_whole(name: str, around: str) -> None:
    key = KEYS[name]
    before, after = around.split("{}")
    done = redact(before + key + after)
    assert done.text.startswith(before)
    assert done.text.endswith(after)
    middle = done.text[len(before) : len(done.text) - len(after)]
    assert middle == f"{REDACTION_MARK}{done.kinds[0]}]"


SAID = [
    ("the password is {}", "hunter2"),
    ("The password is {}.", "swordfish"),
    ("the password for the staging db is {}, ok?", "hunter2"),
    ("my password's {}", "hunter2"),
    ("The WiFi password is {}", "BlueSky2024!x"),
    ("the new password will be {}", "Winter2025"),
    ("the password has been changed to {}", "Winter2025"),
    ("password: {}", "hunter2"),
    ("Password: {}\nNext line", "swordfish"),
    ("use {} as the password", "hunter2"),
    ("password {}", "hunter2x"),
    ('password = "{}"', "letmein"),
    ("DB_PASSWORD={}", "hunter2"),
    ("DB_PASS={}", "s3cret"),
    ("mysql --password {} -h db", "hunter2"),
    ("curl -u admin:{} https://x.test", "hunter2"),
    ("curl -u admin:{} https://x.test", "swordfish"),
    ("curl -s -uadmin:{} https://x.test", "hunter2"),
    ("curl --user 'admin:{}' https://x.test", "hunter2"),
    ("sshpass -p '{}' ssh host", "Xy77Zt99"),
    ("sshpass -p{} ssh host", "Xy77Zt99"),
    ("mysql -uroot -p{} app", "Xy77Zt88"),
    ("mysqldump --all-databases -u root -p'{}'", "Xy77Zt88"),
    ("mongosh -u root -p {} --quiet", "Xy77Zt88"),
    ("redis-cli -h cache -a {} ping", "Xy77Zt88"),
    ("docker login -u ada -p {} reg.test", "Xy77Zt88"),
    ("smbclient //host/share -U ada%{}", "Xy77Zt88"),
    ('{{"password": "{}"}}', "hunter2"),
    ('{{\\"password\\": \\"{}\\"}}', "hunter2"),
    ("my API key is {}", "9f8e7d6c5b4a39281706"),
    ('api_key="{}"', "abcdef1234567890"),
    ("STRIPE_KEY={}", "aB3dE5fG7hJ9kL1m"),
    ("export AWS_SECRET_ACCESS_KEY={}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzEYa1"),
    ("https://x.test/y?a=1&token={}&b=2", "abcd1234efgh"),
    ("the passphrase is {}", "correct horse battery staple"),
    ("my PIN is {}", "4821"),
    ("PIN: {}", "482913"),
    ("Authorization: Bearer {}", MIXED),
    ("Authorization: Basic {}", "dXNlcjpodW50ZXIy"),
    ("postgres://app:{}@db.test/x", "hunter2"),
    ("redis://:{}@cache:6379", "s3cr3tpw"),
    ("Server=db;User Id=sa;Password={};Encrypt=true", "Tr0ub4dor&3"),
    ("密码是 {}", "hunter2"),
    ("密码是{}，别说出去", "abcDEF99"),
    ("密码：{}", "abc123"),
    ("我的密码就是 {}", "qwerty123"),
    ("数据库密码改成 {} 了", "Qwer1234"),
    ("密码是“{}”", "芝麻开门"),
    ("口令：{}", "芝麻开门"),
    ("口令是{}", "天王盖地虎"),
    ("密钥为 {}", "9f8e7d6c5b4a3928"),
    ("root 密码 {}", "Abc12345"),
    ("PIN码是 {}", "4821"),
]


@pytest.mark.parametrize(("sentence", "secret"), SAID)
def test_only_the_value_is_masked_where_a_sentence_gives_a_secret(
    sentence: str, secret: str
) -> None:
    before, after = sentence.format("\0").split("\0")
    done = redact(before + secret + after)
    assert done.text == f"{before}{REDACTION_MARK}{done.kinds[0]}]{after}"


KEPT = [
    "pin to 3fa9c1d4e5f60718293a4b5c6d7e8f9012345678",
    "git revert 3fa9c1d; token bucket at 3fa9c1d4e5f60718293a4b5c6d7e8f9012345678",
    "aws deploy key step at commit 3fa9c1d4e5f60718293a4b5c6d7e8f9012345678",
    "550e8400-e29b-41d4-a716-446655440000",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "integrity sha512-" + "z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNK" * 2 + "==",
    "AKIAIOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "sk-xxxx",
    "sk-" + "x" * 40,
    "api_key: <your-api-key>",
    "token=YOUR_TOKEN",
    "password: ${DB_PASSWORD}",
    "Authorization: Bearer ${TOKEN}",
    "Authorization: Bearer <token>",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "set OPENAI_API_KEY first; the API key is read from OPENAI_API_KEY",
    "keys that start with sk- are masked; sk-learn-compatible-estimators-everywhere are not",
    "version 13.800.555.1234, phone 1.800.555.0199",
    "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAA" * 30 + "==",
    "data:x;base64," + "QUtJQVo3UVdFUlRZMTIzNEFCQ0Q+" + "AKIAZ7QWERTY1234ABCD+" * 12,
    "docker run --name mongo -p 27017:27017 mongo; docker run mysql -p3306:3306",
    "mysql -u root -p app; curl -u user:password https://x.test; sshpass -p $PASS ssh host",
    "VGhlIHBhc3N3b3JkIGlzIHN0b3JlZCBpbiBWYXVsdC4=",
    "the password is stored in Vault",
    "The password is rotated monthly.",
    "the password is at least 12 characters",
    "the password is 12 characters long",
    "the password is case-sensitive.",
    "the password is required.",
    "the password is wrong",
    "the password is hashed with sha256",
    "the password is in 1Password",
    "password hashing: argon2id",
    "password policy: 12+ characters",
    "password: string",
    "password: SecretStr",
    "password = get_password()",
    "password = os.environ['X']",
    "password: process.env.DB_PASSWORD",
    "if (password != confirmPassword)",
    "pwd = (self.password.encode('utf-8'))",
    "PWD='/tmp'",
    "_DD_SIGNATURE = 0x08074b50",
    'name token at %r" % rawdata[declstartpos:declstartpos+20]',
    'password: "must be at least 8 characters"',
    "the token is a JWT",
    "the tokens are opaque strings",
    "max_tokens=4096, token: 12345",
    "The passphrase is stored in the keychain.",
    "the passphrase is rotated every second month",
    "pin the version: 1.2.3, pin 4821",
    "postgres://user:password@localhost/db",
    "https://<user>:<password>@host/",
    "Bearer authentication, basic authentication",
    "primary key: 550e8400-e29b-41d4-a716-446655440000",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAbcdefghijklmnopqrstuvwxyz0123456789ABC u@host",
    "-----BEGIN PUBLIC KEY-----\n" + BASE64_LINE + "\n-----END PUBLIC KEY-----",
    f"a file that begins with {BEGIN} is refused",
    "密码是必填项",
    "密码是用 bcrypt 存的",
    "密码是 bcrypt 加密的",
    "密码是 MD5 加密的",
    "密码是 8 位以上",
    "密码错误，密码不对",
    "密码：见 1Password",
    "密码由运维保管",
    "这个密码是谁设的",
    "口令不是必须的",
    "口令是必填的",
    "令牌是 JWT 格式",
    "密钥由 KMS 管理",
]


@pytest.mark.parametrize("text", KEPT)
def test_ids_hashes_examples_and_prose_stay_byte_for_byte(text: str) -> None:
    assert redact(text).text == text
    assert find_secrets(text) == ()


@pytest.mark.parametrize("text", [*KEYS.values(), *(s.format(v) for s, v in SAID)])
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    again = redact(once.text)
    assert again.text == once.text
    assert again.kinds == ()


FRAGMENTS = [
    "\u200b",
    "\uff4b",
    *KEYS.values(),
    *(s.format(v) for s, v in SAID),
    *KEPT,
    "\n",
    " ",
    "'",
    '"',
    "密码是",
]


@given(st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=8)), max_size=6))
def test_redacting_is_idempotent_whatever_stands_together(pieces: list[str]) -> None:
    once = redact("".join(pieces)).text
    assert redact(once).text == once


def test_a_private_key_without_its_end_or_its_beginning_is_masked() -> None:
    body = f"{BASE64_LINE}\n{BASE64_LINE}\n"
    assert redact(f"{BEGIN}\n{body}").text.count(BASE64_LINE) == 0
    assert redact(f"{body}{END}\nthat is all").text == "[redacted:private-key]\nthat is all"
    escaped = f"{BEGIN}\n{body}{END}\n".replace("\n", "\\n")
    assert BASE64_LINE not in redact(f'{{"key": "{escaped}"}}').text


def test_a_key_that_was_wrapped_at_a_line_end_is_masked_whole() -> None:
    done = redact(f"it is {GITHUB[:20]}\n{GITHUB[20:]} I think")
    assert done.text == "it is [redacted:github-token] I think"
    joined = redact(f'"{AWS[:9]}" +\n    "{AWS[9:]}"')
    assert joined.text == '"[redacted:aws-key]"'


@pytest.mark.parametrize("cut", range(9, 18))
def test_a_key_cut_in_two_by_the_end_of_a_message_leaves_neither_half(cut: int) -> None:
    first, second = f"the key is {AWS[:cut]}", f"{AWS[cut:]} and that is all"
    assert AWS[4:cut] not in redact(first).text
    done = redact_continuation(first, second)
    assert done.text == "[redacted:aws-key] and that is all"
    assert done.kinds == ("aws-key",)


def test_an_answer_after_a_complete_key_is_not_taken_for_the_rest_of_it() -> None:
    assert redact_continuation(f"is it {AWS}", "YES1 it is").text == "YES1 it is"
    assert redact_continuation("nothing here", "ABCD1234 is a word").kinds == ()


def test_a_mark_that_nobody_made_hides_no_secret() -> None:
    text = f"[redacted:{GITHUB}] and password: [redacted:hunter2]"
    done = redact(text).text
    assert GITHUB not in done
    assert "hunter2" not in done


@pytest.mark.parametrize("name", ["github", "anthropic", "aws", "jwt"])
@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\ufeff\u2060", "\ufffd"])
def test_a_key_with_something_inside_that_is_not_drawn_is_masked_whole(
    name: str, hidden: str
) -> None:
    key = KEYS[name]
    for at in (2, 6, len(key) - 3):
        text = f"用{hidden} {key[:at]}{hidden}{key[at:]} 吧{hidden}"
        done = redact(text)
        assert done.text == f"用{hidden} [redacted:{done.kinds[0]}] 吧{hidden}"
    wide = "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in key)
    assert wide[-8:] not in redact(f"it is {wide} now").text


@pytest.mark.parametrize("said", ["password: hunter2", "密码是 hunter2", f"use {GITHUB} here"])
def test_base64_of_a_text_with_a_secret_is_masked_whole(said: str) -> None:
    word = base64.b64encode(said.encode()).decode()
    done = redact(f"echo {word} | base64 -d")
    assert done.text == f"echo [redacted:{done.kinds[0]}] | base64 -d"
    assert len(done.kinds) == 1


def test_a_pattern_that_crosses_lines_is_tried_where_its_word_stands() -> None:
    text = "x\n" * 50 + "use\nhunter2xx\nas\nthe\npassword\n" + "y\n" * 50
    assert "hunter2xx" not in redact(text).text
    token = "Authorization\n:\n Bearer\n" + MIXED
    assert MIXED not in redact(f"a\n{token}\nb").text
    assert "4821" not in redact("my pin\n\nis\n\n4821").text


@pytest.mark.parametrize(
    "said", ["pa\u017f\u017fword: hunter2x", "to\u212aen: abcdef123456", "\u0130 "]
)
def test_letters_that_equal_others_in_another_case_hide_no_word(said: str) -> None:
    done = redact(f"\u0130 {said} and password: hunter2")
    assert "hunter2" not in done.text
    assert "abcdef123456" not in done.text


def test_findings_name_kind_and_place_and_never_the_secret() -> None:
    text = f"first line\nsecond {GITHUB}\n密码是 hunter2\n"
    findings = find_secrets(text)
    assert [(f.kind, f.line) for f in findings] == [("github-token", 2), ("password", 3)]
    assert [text[f.start : f.end] for f in findings] == [GITHUB, "hunter2"]
    assert "hunter2" not in repr(findings)
    assert GITHUB[4:] not in repr(findings)


def test_kinds_count_every_mask_and_marks_read_them_back() -> None:
    done = redact(f"{GITHUB} {AWS} {AWS} password: hunter2")
    assert done.kinds == ("github-token", "aws-key", "aws-key", "password")
    assert marks(done.text) == done.kinds


HOSTILE = [
    "a", "eyJ", "://a:", "token=", 'password: "', "awskey/", "artif AP0 AKC ", "sk-a1", "AKIA1 ",
    "密码是", "bearer ", "\n", "1234567890:", "my pin for ", " --password=", "use aaaa as the ",
    "SG.aaaaaaaaaaaaaaaa.", "-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----\n",
    "password for x ", "passphrase is a b c d e f g h ", "QUJD", "A1b2" * 16 + "\n",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_is_read_to_its_end(piece: str) -> None:
    """A pattern that backtracks would need hours for this."""
    text = piece * (300_000 // len(piece)) + f"\n{GITHUB}\n"
    assert GITHUB not in redact(text).text


def test_a_key_anywhere_in_a_long_line_is_found() -> None:
    key = KEYS["square"]
    for at in (0, 3500, 3570, 4090, 4096, 9000):
        line = ("word " * 3000)[:at].rstrip("w") + " " + key + " " + "word " * 3000
        assert key not in redact(line).text


@given(st.text(alphabet=string.hexdigits.lower()[:16], min_size=40, max_size=40))
def test_no_commit_id_is_ever_masked(commit: str) -> None:
    text = f"fixed in {commit}, see https://host.test/r/commit/{commit}"
    assert redact(text).text == text


def test_the_scanner_package_is_not_imported_for_plain_text() -> None:
    code = (
        "import sys; from gitmem.redaction import redact; redact('use tabs, 密码是 hunter2');"
        "print('detect_secrets' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=_root()
    )
    assert done.stdout.strip() == "False"


def _root() -> str:
    import gitmem

    return str(next(iter(gitmem.__path__))).removesuffix("gitmem")
