"""Secrets known by their own form, wherever they stand: key blocks and the tokens of services."""

from __future__ import annotations

from lorelake.content.redaction_rule import ASSIGN, HEX_32, MIXED_16, MIXED_36, MIXED_64, Rule, key_body

_BEGIN, _END = "-----BEGIN ", "-----END "
_LINES = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" + MIXED_16, MIXED_64, MIXED_64[::-1], MIXED_16 + "=="])
_CUT = "(?:[^A-Za-z0-9+/=]{1,16}(?:[0-9]{1,6}[^A-Za-z0-9+/=]{1,4})?[A-Za-z0-9+/=]{16,})+"


def _key_block(title: str) -> str:
    """A key block up to its end line, or as many lines of it as a cut text still has."""
    return f"{_BEGIN}{title}-----(?:(?:[^-]|-{{1,4}}[^-])*-{{0,2}}{_END}{title}-----|{_CUT})"


def _block(title: str, body: str = _LINES, joint: str = "\n") -> str:
    return f"{_BEGIN}{title}-----{joint}{body}{joint}{_END}{title}-----"


def _token(
    name: str,
    pattern: str,
    example: str,
    near: tuple[str, ...],
    literals: tuple[str, ...],
    bounded: bool = True,
    entropy: float = 0.0,
    hint: str = "",
) -> Rule:
    """A rule whose examples are the token alone, quoted, and behind an escape inside a JSON string."""
    positive = (f"key «{example}» end", f"x='«{example}»'", '{"out": "line\\n«' + example + '»\\nnext"}')
    return Rule(name, pattern, positive, near, literals=literals, bounded=bounded, entropy=entropy, hint=hint)


KEY_BLOCKS = (
    Rule(
        "ssh_private_key", _key_block("OPENSSH PRIVATE KEY"),
        (
            f"cat id_ed25519\n«{_block('OPENSSH PRIVATE KEY')}»\n$ ls",
            f"cut off: «{_BEGIN}OPENSSH PRIVATE KEY-----\n{_LINES}»",
        ),
        (f"a file that starts with {_BEGIN}OPENSSH PRIVATE KEY----- is a key",),
        literals=(_BEGIN + "OPENSSH",), canonical=key_body,
    ),
    Rule(
        "private_key", _key_block("[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"),
        (
            f"«{_block('RSA PRIVATE KEY')}»\n",
            '{"private_key": "«' + _block("PRIVATE KEY", MIXED_64, "\\n") + '»\\n", "kept": 1}',
            f"«{_block('PGP PRIVATE KEY BLOCK')}»",
            "-«" + _block("PRIVATE KEY", MIXED_64, "\n-") + "»\n a diff that deletes it",
            f"«{_BEGIN}EC PRIVATE KEY-----\n     2→{MIXED_64}\n     3→{MIXED_64}»\n[cut]",
        ),
        (_block("PUBLIC KEY", MIXED_64), f"grep for {_BEGIN}PRIVATE KEY-----"),
        literals=(_BEGIN,), canonical=key_body,
    ),
    Rule(
        "putty_private_key", r"Private-Lines: [0-9]{1,4}(?P<secret>(?:[\s\\]{1,8}n?[A-Za-z0-9+/=]{16,})+)",
        (f"Private-Lines: 2«\n{MIXED_64}\n{MIXED_16}»\nPrivate-MAC: 00",), ("Private-Lines: 14 follow",),
        kind="private_key", literals=("Private-Lines: ",), canonical=key_body,
    ),
    Rule(
        "gcp_service_account", rf"private_key_id{ASSIGN}(?P<secret>[0-9a-f]{{40}})",
        ('{"private_key_id": "«' + HEX_32 + 'deadbeef»", "type": "service_account"}',),
        ('{"private_key_id": "see vault"}', f"commit {HEX_32}deadbeef"),
        literals=("private_key_id",), bounded=True,
    ),
)  # fmt: skip

TOKENS = (
    _token(
        "aws_access_key", "(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", "AKIA" + "Q3EGR5WX" * 2,
        ("AKIA" + "q3egr5wx" * 2, "XAKIA" + "Q3EGR5WX" * 2 + "9Z"), ("AKIA", "ASIA", "ABIA", "ACCA"),
    ),
    _token("gcp_api_key", "AIza[A-Za-z0-9_-]{35}", "AIza" + MIXED_36[:35], ("AIza" + MIXED_16,), ("AIza",)),
    _token(
        "google_oauth", r"(?:ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{28})", "GOCSPX-" + MIXED_36[:28],
        ("ya29.short",), ("ya29.", "GOCSPX-"),
    ),
    _token(
        "azure_client_secret", "[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", "abc8Q~" + MIXED_36[:34],
        ("Q~" + MIXED_16,), ("Q~",),
    ),
    _token(
        "github_token", "(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{50,255})", "ghp_" + "a1B2" * 9,
        ("ghp_token", "gho_" + MIXED_16), ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), bounded=False,
    ),
    _token(
        "gitlab_token", "gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.-]{20,300}",
        "glpat-" + MIXED_16 + "_-x9", ("glpat-short", "gl-rt-" + MIXED_16),
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-"),
        bounded=False,
    ),
    _token(
        "slack_token", r"(?:xox[abeoprs](?:\.xox[bp])?|xapp)-[A-Za-z0-9%.-]{10,500}",
        "xoxb-" + "123456789012-" + MIXED_16, ("xoxb-", "foxox-trot"), ("xox", "xapp-"), bounded=False,
    ),
    _token(
        "stripe_key", "(?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,247}|whsec_[A-Za-z0-9+/=]{24,247})",
        "sk_" + "live_" + MIXED_16 * 2, ("sk_live_demo", "risk_test_" + MIXED_16),
        ("k_live_", "k_test_", "k_prod_", "whsec_"),
    ),
    _token("twilio_key", "SK[0-9a-f]{32}", "SK" + HEX_32, ("SK" + HEX_32 + "00",), ("SK",)),
    _token(
        "sendgrid_key", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}", f"SG.{MIXED_36[:22]}.{MIXED_64[:43]}",
        ("SG.area.code",), ("SG.",),
    ),
    _token("mailgun_key", "key-[0-9a-f]{32}", "key-" + HEX_32, (f"key-{MIXED_16}", f"key-{HEX_32}00"), ("key-",)),
    _token("npm_token", "npm_[A-Za-z0-9]{36}", "npm_" + MIXED_36, ("npm_config_registry",), ("npm_",)),
    _token(
        "pypi_token", "pypi-AgEI[A-Za-z0-9_-]{50,500}", "pypi-" + "AgEIcHlwaS5vcmc" + MIXED_64,
        ("pypi-server",), ("pypi-AgEI",),
    ),
    _token(
        "docker_token", "dckr_[po]at_[A-Za-z0-9_-]{20,100}", "dckr_pat_" + MIXED_36[:27],
        ("dckr_pat_",), ("dckr_pat_", "dckr_oat_"),
    ),
    _token(
        "anthropic_key", "sk-ant-[a-z0-9]{3,10}-[A-Za-z0-9_-]{24,200}", "sk-" + "ant-api03-" + MIXED_64,
        ("sk-ant-api03-key",), ("sk-ant-",),
    ),
    _token(
        "openai_key", "sk-(?:(?:proj|svcacct|admin|None|or-v1)-[A-Za-z0-9_-]{20,250}|[A-Za-z0-9]{32,64})",
        "sk-" + "proj-" + MIXED_64, ("task-" + MIXED_36, "sk-learn", "disk-0"), ("sk-",), entropy=3.0,
    ),
    _token(
        "huggingface_token", "(?:hf_|api_org_)[A-Za-z0-9]{30,40}", "hf_" + MIXED_36[:34],
        ("hf_hub_download",), ("hf_", "api_org_"), entropy=3.0,
    ),
    _token("databricks_token", "dapi[0-9a-f]{32}(?:-[0-9])?", "dapi" + HEX_32, ("dapi" + MIXED_16,), ("dapi",)),
    _token(
        "digitalocean_token", "do[opr]_v1_[0-9a-f]{64}", "dop_v1_" + HEX_32 * 2,
        ("dop_v1_" + HEX_32,), ("dop_v1_", "doo_v1_", "dor_v1_"),
    ),
    _token("heroku_key", "HRKU-[A-Za-z0-9_-]{36,100}", "HRKU-" + MIXED_64, ("HRKU-1",), ("HRKU-",)),
    _token(
        "telegram_token", "[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", "123456789" + ":AA" + MIXED_36[:33],
        ("12345678:AAbc",), (":AA",),
    ),
    _token(
        "discord_token", r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
        "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + MIXED_36[:27], ("Module.Name.thing",), (), entropy=4.0,
        hint=r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
    ),
    _token(
        "jwt", r"eyJ[A-Za-z0-9_-]{10,1000}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{0,}",
        "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + MIXED_36,
        ("eyJhbGciOiJIUzI1NiJ9", "eyJhbGciOiJIUzI1NiJ9.payload.x"), ("eyJ",),
    ),
    _token(
        "shopify_token", "shp(?:at|ca|pa|ss)_[0-9a-f]{32}", "shpat_" + HEX_32,
        ("shpat_x",), ("shpat_", "shpca_", "shppa_", "shpss_"),
    ),
    _token("atlassian_token", "ATATT3[A-Za-z0-9_=-]{50,250}", "ATATT3" + MIXED_64, ("ATATT3",), ("ATATT3",)),
    _token(
        "linear_key", "lin_(?:api|oauth)_[A-Za-z0-9]{32,64}", "lin_api_" + MIXED_36,
        ("lin_api_url",), ("lin_api_", "lin_oauth_"),
    ),
    _token("notion_token", "ntn_[A-Za-z0-9]{40,60}", "ntn_" + MIXED_64[:46], ("ntn_id",), ("ntn_",)),
    _token("grafana_token", "gl(?:sa|c)_[A-Za-z0-9+/=_]{32,250}", "glsa_" + MIXED_36, ("glsa_id",), ("glsa_", "glc_")),
    _token(
        "vault_token", r"hv[sbr]\.[A-Za-z0-9_-]{24,250}", "hvs." + MIXED_36, ("hvs.x",), ("hvs.", "hvb.", "hvr."),
    ),
    _token("groq_key", "gsk_[A-Za-z0-9]{40,90}", "gsk_" + MIXED_64[:52], ("gsk_x",), ("gsk_",)),
    _token("xai_key", "xai-[A-Za-z0-9]{60,90}", "xai-" + MIXED_64, ("xai-grok",), ("xai-",)),
    _token(
        "age_key", "AGE-SECRET-KEY-1[A-Z0-9]{58}", "AGE-SECRET-" + "KEY-1" + "Q3EGR5WX" * 7 + "Z2",
        ("AGE-SECRET-KEY-1",), ("AGE-SECRET-KEY-1",),
    ),
    _token(
        "rubygems_key", "rubygems_[0-9a-f]{48}", "rubygems_" + HEX_32 + HEX_32[:16], ("rubygems_org",), ("rubygems_",)
    ),
    _token("pulumi_token", "pul-[0-9a-f]{40}", "pul-" + HEX_32 + "01234567", ("pul-request",), ("pul-",)),
    _token("supabase_token", "sbp_[0-9a-f]{40}", "sbp_" + HEX_32 + "01234567", ("sbp_id",), ("sbp_",)),
    _token("replicate_token", "r8_[A-Za-z0-9]{37}", "r8_" + MIXED_64[:37], ("r8_x",), ("r8_",)),
    _token("doppler_token", r"dp\.(?:pt|st|sa)\.[A-Za-z0-9.]{40,80}", "dp.pt." + MIXED_64[:43], ("dp.pt.x",), ("dp.",)),
)  # fmt: skip
