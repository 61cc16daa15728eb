"""Secrets known by what stands around them (headers, URLs, assignments, flags), and personal data.

A host, user or name beside a secret stays: only the secret itself is hidden.
"""

from __future__ import annotations

import re

from lorelake.content.redaction_rule import (
    ASSIGN,
    HEX_32,
    MIXED_16,
    MIXED_36,
    MIXED_64,
    Rule,
    digits_of,
    is_email,
    is_password,
    is_phone,
    is_token,
)

_NAMED = (
    "secret|token|credential|api[_-]?key|access[_-]?key|auth[_-]?key|private[_-]?key|signing[_-]?key|"
    "encryption[_-]?key|account[_-]?key"
)
_VALUE = "(?P<secret>[A-Za-z0-9+/_.=~%-][A-Za-z0-9+/_.=~%:-]{15,511})"
_WORD, _FIRST = r"""[^\s"'`,;<>(){}\[\]$\\]""", r"""[^\s"'`,;<>(){}\[\]$\\:]"""
"""What a value starts with is no colon: `test_password.py::test_reset_2` and `Token::parse` name things in scopes."""
_GIVEN = r"""["'\\]{0,8}[ \tt=:>\\]{1,24}["'\\`]{0,8}"""
_ASSIGNED_HINT = (
    rf"(?i)(?:(?:secret|token|key|credential)[a-z0-9_.-]{{0,20}}{_GIVEN}[A-Za-z0-9+/_.=~%:-]{{16}}"
    rf"""|(?:pass|pwd)[a-z0-9_.-]{{0,28}}{_GIVEN}[^\s"'`,;<>(){{}}\[\]$]{{6}})"""
)
_URL_HINT = r"""://[^\s:/@"']*:[^\s/"'`]{3,}@"""
_HEADER_HINT = r"""(?i)authorization|cookie["'\\]{0,8}:|heroku"""
_STORES = "postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|clickhouse|ftp|smtps?|ldaps?"
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ANY_UUID = "12345678-9abc-4def-8123-456789abcdef"


def is_url_password(value: str) -> bool:
    """Whether what stands before the host is a password, not a variable or placeholder."""
    return not re.match(r"[$<{\[*%]|(?:x{3,}|pass(?:word)?)$", value)


def is_credential(value: str) -> bool:
    """Whether what follows a scheme in a header is a credential."""
    return is_token(value) or value.endswith("=")


SURROUNDED = (
    Rule(
        "slack_webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_+-]{20,200})",
        (f"POST https://hooks.slack.com/services/«T0AB12CD3/B0EF45GH6/{MIXED_16}»",),
        ("https://hooks.slack.com/services/T0/B0",), literals=("hooks.slack.com/",),
    ),
    Rule(
        "discord_webhook", r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/(?P<secret>[A-Za-z0-9_-]{60,100})",
        (f"https://discord.com/api/webhooks/123456789012345678/«{MIXED_64}abcd»",),
        ("https://discord.com/api/webhooks/1/x",), literals=("/api/webhooks/",),
    ),
    Rule(
        "slack_file_token", "[?&]t=(?P<secret>xoxe-[A-Za-z0-9%._-]{6,500})",
        ("https://files.example.org/x/a.png?t=«xoxe-" + "1234-ab»&pretty=1",), ("?t=10s",),
        kind="slack_token", literals=("t=xoxe-",),
    ),
    Rule(
        "aws_secret_key",
        rf"(?i)(?:aws_?secret_?(?:access_?)?key|secret_?access_?key){ASSIGN}(?P<secret>[A-Za-z0-9/+]{{40}})",
        (f"export AWS_SECRET_ACCESS_KEY=«{MIXED_36}/+9Z»", '{\\"SecretAccessKey\\": \\"«' + MIXED_36 + '/+9Z»\\"}'),
        ("AWS_SECRET_ACCESS_KEY=$(pass aws)", "aws_secret_access_key = <from vault>"),
        hint=_ASSIGNED_HINT, bounded=True,
    ),
    Rule(
        "azure_storage_key", "(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,88}={1,2})",
        (f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«{MIXED_64}{MIXED_36[:22]}==»;EndpointSuffix=y",),
        ("AccountKey=from-vault",), literals=("AccountKey=", "SharedAccessKey="),
    ),
    Rule(
        "azure_sas", "[?&]sig=(?P<secret>[A-Za-z0-9%/+]{40,120}={0,2})",
        (f"https://x.blob.core.windows.net/a?sv=2024-01-01&sig=«{MIXED_36}%2Bab%3D»",), ("?sig=abc",),
        literals=("sig=",),
    ),
    Rule(
        "connection_password",
        rf"""(?i)(?:{_STORES})(?:\+[a-z0-9]{{1,20}})?://[^\s:/@"'\\]{{0,100}}:(?P<secret>[^\s/"'\\`]{{3,200}})@""",
        (
            "postgresql://app:«s3cr3t-pw»@db.internal:5432/app", "redis://:«hunter2hunter2»@cache:6379/0",
            "mongodb+srv://u:«p4ss%21w»@cluster0.example.net/x", "DATABASE_URL=mysql://root:«abc»@127.0.0.1/x",
            '{\\"url\\": \\"amqps://svc:«Qw3rty!x»@mq.example.org\\"}',
        ),
        ("postgres://localhost:5432/app", "postgres://$USER:$PASS@host/db", "mysql://user:<password>@host/db"),
        hint=_URL_HINT, kind="password", accept=is_url_password,
    ),
    Rule(
        "url_password", r"""https?://[^\s:/@"'\\?#]{1,100}:(?P<secret>[^\s/@"'\\?#`]{3,200})@[A-Za-z0-9\[]""",
        ("git clone https://ci:«f00bar-9x»@git.example.org/a/b.git", "http://admin:«Pa55word»@10.0.0.1:8080/"),
        ("http://localhost:3000/@scope/pkg", "https://user@host/x", "https://x:${TOKEN}@github.com/a/b"),
        hint=_URL_HINT, kind="password", accept=is_url_password,
    ),
    Rule(
        "authorization",
        r"""(?i)authorization["'\\]{0,4}[ \t]{0,4}[:=][ \t"'\\\[]{0,8}"""
        r"""(?:(?:bearer|basic|token|bot|digest|apikey)[ \t]{1,4})?(?P<secret>[A-Za-z0-9+/=._~-]{8,1000})""",
        (
            f"curl -H 'Authorization: Bearer «{MIXED_16}xyz»' https://x",
            "authorization: Basic «dXNlcjpwYXNzd29yZA==»", '{\\"Authorization\\": \\"token «' + HEX_32 + '»\\"}',
        ),
        ("Authorization: Bearer $TOKEN", "authorization: required", "the Authorization: header is missing"),
        hint=_HEADER_HINT, accept=is_credential,
    ),
    Rule(
        "bearer", "[Bb]earer[ \\t]{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{16,1000})",
        (f"send Bearer «{MIXED_16}» along",), ("Bearer authentication-required", "bearer tokens"),
        kind="authorization", literals=("earer",), accept=is_token,
    ),
    Rule(
        "cookie", r"""(?i)cookie["'\\]{0,4}:[ \t"'\\]{0,6}(?P<secret>[A-Za-z0-9_.-]{1,80}=[^\r\n"'\\]{6,1000})""",
        (f"> Cookie: «sid={MIXED_16}; theme=dark»\n> Accept: */*",), ("Cookie: none", "cookie: name=short"),
        hint=_HEADER_HINT, accept=is_token,
    ),
    Rule(
        "heroku_assigned_key", rf"(?i)heroku[a-z0-9_ .-]{{0,25}}{ASSIGN}(?P<secret>{_UUID})",
        (f"HEROKU_API_KEY=«{_ANY_UUID}»",), (f"heroku release {_ANY_UUID}",),
        hint=_HEADER_HINT, kind="heroku_key", bounded=True,
    ),
    Rule(
        "curl_user", r"""(?:-u|--user)[ =]["'\\]{0,3}[A-Za-z0-9_.@-]{1,64}:(?P<secret>[^\s"'\\:]{6,128})""",
        ("curl -u admin:«Sup3r!pw» https://x",), ("docker run -u 1000:100000 img", "curl -u user:$PASSWORD x"),
        hint=r"""(?:-u|--user)[ =]["'\\]{0,6}[A-Za-z0-9_.@-]{1,64}:""", kind="password", literals=("-u", "--user"),
        accept=lambda value: value[0] not in "$<{" and is_password(value),
    ),
    Rule(
        "assigned_password",
        rf"(?i)(?:passw(?:or)?d|passphrase|[_-]pwd|_pass)[a-z0-9_.-]{{0,20}}{ASSIGN}(?P<secret>{_FIRST}{_WORD}{{5,127}})",
        (
            'DB_PASSWORD="«tr0ub4dor&3»"', "password: «hunter2!x»", "PGPASSWORD=«a8!kPz» psql",
            '{\\"password\\": \\"«Wint3r-2026»\\", \\"user\\": \\"x\\"}',
        ),
        (
            "password: required", "password = getpass()", "PASSWORD=$DB_PASSWORD", "password=********",
            "password: process.env.DB_PASSWORD_2", "tests/test_password_reset.py::test_token_0 PASSED",
        ),
        hint=_ASSIGNED_HINT, kind="password", accept=is_password,
    ),
    Rule(
        "flag_password",
        rf"""(?i)--?(?:password|passwd|passphrase|pass)[ \t]["'\\]{{0,3}}(?P<secret>[A-Za-z0-9]{_WORD}{{5,128}})""",
        ("mysqldump --password «k3epM3safe» app",), ("--password flag_name is read", "--password -stdin123"),
        hint=_ASSIGNED_HINT, kind="password", accept=is_password,
    ),
    Rule(
        "flag_secret", rf"""(?i)--(?:{_NAMED})[a-z0-9_-]{{0,20}}[ \t]["'\\]{{0,3}}{_VALUE}""",
        (f"deploy --api-key «{MIXED_16}» --force",),
        ("deploy --token-file config/secrets/prod1.yaml", "--token REPLACE_WITH_REAL_ONE"),
        hint=_ASSIGNED_HINT, kind="secret", accept=is_token,
    ),
    Rule(
        "assigned_secret", rf"(?i)(?:{_NAMED})[a-z0-9_.-]{{0,20}}{ASSIGN}{_VALUE}",
        (
            f"SESSION_SECRET=«{HEX_32}»", f'api_key: "«{MIXED_16}zz»"', f"secret_key_base := `«{HEX_32}»`",
            f"//registry.example.org/:_authToken=«{MIXED_16}»",
            "app.credential => «svc:a1B2c3D4e5F6»", '{\\"client_secret\\":\\"«' + MIXED_36 + '»\\"}',
        ),
        (
            "max_tokens: 1234567890123456", "token = settings.auth.token_value2",
            "api_key=os.environ.get1234567890", "token: authentication_required",
            "secret: your-secret-goes-here-123", "token: https://example.org/a1B2c3D4/e5F6",
            "secrets: ${{ secrets.DEPLOY_KEY_2 }}", "tests/test_access_token.py::test_rotation_of_2_keys FAILED",
        ),
        hint=_ASSIGNED_HINT, kind="secret", accept=is_token,
    ),
)  # fmt: skip

_LOCAL, _LABEL = "[A-Za-z0-9._%+'-]{1,64}", "[A-Za-z0-9-]{1,63}"
_ADDRESS = rf"{_LOCAL}@{_LABEL}(?:\.{_LABEL}){{0,8}}\.[A-Za-z]{{2,24}}"

PERSONAL = (
    Rule(
        "email", rf"(?:\\[nrt])?(?P<secret>{_ADDRESS})",
        (
            "Author: Jo <«jo.doe+x@mail.example.org»>", '{\\"email\\": \\"«a@b.co»\\"}', '{"log": "by\\n«new@b.co»"}',
            "Co-authored-by: x <«1234+x@users.noreply.example.com»>",
        ),
        (
            "git@example.org:team/repo.git", "icon@2x.png", "left-pad@1.3.0", "@scope/pkg@^2.0.0",
            "actions/checkout@v4", "a @ b.co",
        ),
        hint=_ADDRESS, literals=("@",), bounded=True, accept=is_email, canonical=str.lower,
    ),
    Rule(
        "international_phone", r"""(?:^|[\s:("'=,;/>\[])(?P<secret>\+[1-9][0-9 .()-]{8,20}[0-9])""",
        ("call «+49 30 1234567», please", "tel:«+442071838750»", "«+1 (415) 555-2671»"),
        ("UTC+12 00 00", "x+1234567890123", "@@ -10,7 +1234567,8 @@", "+1783514459", "+1.2.3-4"),
        hint=r"\+[1-9][0-9 .()-]{8,20}[0-9]", kind="phone", literals=("+",), bounded=True, accept=is_phone,
        canonical=digits_of,
    ),
    Rule(
        "phone",
        r"(?:^|[^A-Za-z0-9_.-])(?P<secret>(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[.-])[2-9][0-9]{2}[.-][0-9]{4})"
        "(?:$|[^A-Za-z0-9_-])",
        ("call «(415) 555-2671»", "or «415-555-2671»."),
        ("id 4155-552-67100", f"{_ANY_UUID[:13]}-415-555-2671-446655440000", "v415.555.2671.1", "2415-555-2671"),
        hint="[-.)] ?[2-9][0-9]{2}[.-][0-9]{4}", bounded=True, accept=is_phone, canonical=digits_of,
    ),
)  # fmt: skip
