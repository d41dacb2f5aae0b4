# SPDX-License-Identifier: Apache-2.0
"""Who may ask: the endpoints that give tokens, and the tokens they gave."""
import base64
import json
import pathlib
import secrets
import threading
import urllib.parse

from . import answers
from .authority import make_key, signature_is_good
from .virtual_clock import timestamp

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
# Of https://cloud.google.com/iam/docs/roles-permissions/tpu: those of the API,
# which has none for queued resources, and those around it that tests give.
PERMISSIONS = {
    "resourcemanager.projects.get", "serviceusage.services.get",
    "tpu.acceleratortypes.get", "tpu.acceleratortypes.list",
    "tpu.locations.get", "tpu.locations.list", "tpu.operations.get",
    "tpu.operations.list", "tpu.runtimeversions.get",
    "tpu.runtimeversions.list",
    *(f"tpu.nodes.{verb}" for verb in (
        "create", "delete", "get", "list", "performMaintenance", "reimage",
        "reset", "simulateMaintenanceEvent", "start", "stop", "update"))}
# How far a clock may be off before a signed text is refused.
SKEW_S = 300


class OAuthRefusal(Exception):
    """The form in which token endpoints refuse."""

    def __init__(self, error, description, status=400):
        super().__init__(description)
        self.status = status
        self.body = {"error": error, "error_description": description}


class Token:
    def __init__(self, principal, scopes, expires):
        self.principal, self.scopes, self.expires = principal, scopes, expires


def decode(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


class Identity:
    """Every secret has the word `canary` in it. Any thread."""

    LIFE_S = 3600

    def __init__(self, clock, url, folder):
        self.clock, self.url, self.folder = clock, url, folder
        self.lock = threading.Lock()
        self.tokens = {}
        self.given = 0  # tokens
        self.users = {}  # refresh token -> email
        self.accounts = {}  # email -> public key
        self.subjects = {}  # subject token -> principal
        self.impersonators = set()  # (principal, account)
        self.revoked = set()  # refresh tokens
        # What a principal may do; absent: everything.
        self.permissions = {}
        self.machine = "vm@p.iam.gserviceaccount.com"
        self.machine_scopes = [SCOPE]

    # What tests arrange: the files that google-auth would read.

    def user(self, email="me@example.com", quota_project="p"):
        refresh = f"1//canary-refresh-{secrets.token_hex(8)}"
        self.users[refresh] = email
        return {"type": "authorized_user", "client_id": "client",
                "client_secret": "canary-client-secret",
                "refresh_token": refresh, "quota_project_id": quota_project}

    def service_account(self, email="robot@p.iam.gserviceaccount.com"):
        private, public = make_key()
        self.accounts[email] = public
        return {"type": "service_account", "project_id": "p",
                "private_key_id": "canary-key-id", "private_key": private,
                "client_email": email, "client_id": "1",
                "token_uri": self.url + "/token"}

    def impersonated(self, source, principal,
                     account="target@p.iam.gserviceaccount.com"):
        self.impersonators.add((principal, account))
        return {"type": "impersonated_service_account",
                "service_account_impersonation_url":
                    f"{self.url}/v1/projects/-/serviceAccounts/{account}"
                    ":generateAccessToken",
                "delegates": [], "source_credentials": source}

    def external(self, source, account=None):
        """`source` is the file's credential_source."""
        file = {"type": "external_account",
                "audience": "//iam.googleapis.com/projects/1/locations/global"
                            "/workloadIdentityPools/pool/providers/provider",
                "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
                "token_url": self.url + "/v1/token",
                "credential_source": source}
        if account:
            self.impersonators.add(("principal://pool/subject", account))
            file["service_account_impersonation_url"] = (
                f"{self.url}/v1/projects/-/serviceAccounts/{account}"
                ":generateAccessToken")
        return file

    def subject_token(self):
        token = f"canary-subject-{secrets.token_hex(8)}"
        self.subjects[token] = "principal://pool/subject"
        return token

    def external_user(self):
        refresh = f"canary-workforce-{secrets.token_hex(8)}"
        self.users[refresh] = "workforce@example.com"
        return {"type": "external_account_authorized_user",
                "audience": "//iam.googleapis.com/locations/global"
                            "/workforcePools/pool/providers/provider",
                "refresh_token": refresh, "client_id": "client",
                "client_secret": "canary-client-secret",
                "token_url": self.url + "/v1/oauthtoken"}

    # What the endpoints do.

    def give(self, principal, scopes):
        token = f"ya29.canary-{secrets.token_hex(16)}"
        with self.lock:
            self.given += 1
            self.tokens[token] = Token(principal, scopes,
                                       self.clock.now() + self.LIFE_S)
        return token

    def expire_all(self):
        with self.lock:
            for token in self.tokens.values():
                token.expires = 0

    def principal_of(self, token):
        """Who holds it; raises what the API answers otherwise."""
        known = self.tokens.get(token)
        if known is None and token.count(".") == 2:
            claims = self.check_signed(token, None)
            return claims["iss"], [claims.get("scope", SCOPE)]
        if known is None:
            raise answers.unauthenticated("ACCESS_TOKEN_TYPE_UNSUPPORTED")
        if known.expires <= self.clock.now():
            raise answers.unauthenticated()
        return known.principal, known.scopes

    def check_signed(self, text, audience):
        """The claims of a signed text, or a refusal as Google words it."""
        head, claims, signature = text.split(".")
        told = json.loads(decode(claims))
        header = json.loads(decode(head))
        public = self.accounts.get(told.get("iss"))
        if public is None:
            raise OAuthRefusal("invalid_grant",
                               "Invalid grant: account not found")
        if header.get("alg") != "RS256" or not signature_is_good(
                public, f"{head}.{claims}".encode(), decode(signature),
                self.folder):
            raise OAuthRefusal("invalid_grant", "Invalid JWT Signature.")
        now = self.clock.now()
        if not (told["iat"] - SKEW_S <= now <= told["exp"] + SKEW_S
                and told["exp"] - told["iat"] <= 3600):
            raise OAuthRefusal(
                "invalid_grant",
                "Invalid JWT: Token must be a short-lived token (60 minutes) "
                "and in a reasonable timeframe. Check your iat and exp values "
                "in the JWT claim.")
        # google-auth names Google's own, whatever token_uri says.
        if audience and told.get("aud") not in (
                audience, "https://oauth2.googleapis.com/token"):
            raise OAuthRefusal("invalid_grant", "Invalid JWT: Failed audience "
                               "check.")
        return told

    def token(self, form):
        """POST /token of oauth2.googleapis.com."""
        if form.get("grant_type") == JWT_BEARER:
            told = self.check_signed(form["assertion"], self.url + "/token")
            return self.answer(told["iss"], told["scope"].split())
        if form.get("grant_type") != "refresh_token":
            raise OAuthRefusal("unsupported_grant_type", "Invalid grant_type")
        refresh = form.get("refresh_token")
        if refresh in self.revoked or refresh not in self.users:
            raise OAuthRefusal("invalid_grant",
                               "Token has been expired or revoked.")
        email = self.users[refresh]
        answer = self.answer(email, [SCOPE, "openid", "https://www.googleapis"
                                     ".com/auth/userinfo.email"])
        claims = base64.urlsafe_b64encode(
            json.dumps({"email": email}).encode()).decode().rstrip("=")
        return {**answer, "id_token": f"canary.{claims}.canary"}

    def answer(self, principal, scopes):
        return {"access_token": self.give(principal, scopes),
                "expires_in": self.LIFE_S, "token_type": "Bearer",
                "scope": " ".join(scopes)}

    def exchange(self, form):
        """POST /v1/token of sts.googleapis.com."""
        if form.get("grant_type") != EXCHANGE or form.get(
                "requested_token_type") != ACCESS_TOKEN:
            raise OAuthRefusal("invalid_request", "Unsupported grant type")
        principal = self.subjects.get(form.get("subject_token"))
        if principal is None:
            raise OAuthRefusal(
                "invalid_grant", "Error connecting to the given credential's "
                "issuer.")
        return {**self.answer(principal, [form["scope"]]),
                "issued_token_type": ACCESS_TOKEN}

    def workforce(self, form, authorization):
        """POST /v1/oauthtoken of sts.googleapis.com."""
        expected = base64.b64encode(b"client:canary-client-secret").decode()
        if authorization != "Basic " + expected:
            raise OAuthRefusal("invalid_client", "Unauthorized", 401)
        refresh = form.get("refresh_token")
        if refresh not in self.users or refresh in self.revoked:
            raise OAuthRefusal("invalid_grant", "Token has been expired or "
                               "revoked.")
        return self.answer(self.users[refresh], [SCOPE])

    def impersonate(self, token, account, body):
        """generateAccessToken of iamcredentials.googleapis.com."""
        principal, _ = self.principal_of(token)
        if (principal, account) not in self.impersonators:
            raise answers.permission_denied(
                "iam.serviceAccounts.getAccessToken",
                f"projects/-/serviceAccounts/{account}")
        life = float(body.get("lifetime", "3600s").rstrip("s"))
        given = self.give(account, body["scope"])
        return {"accessToken": given,
                "expireTime": timestamp(self.clock.now() + life)
                .split(".")[0] + "Z"}

    def metadata(self, path):
        """The text at a path below /computeMetadata/v1/; None: 404."""
        path, _, query = path.partition("?")
        account = "instance/service-accounts/default/"
        if path == account + "token":
            asked = dict(urllib.parse.parse_qsl(query)).get("scopes", "")
            scopes = asked.split(",") if asked else self.machine_scopes
            return json.dumps({
                "access_token": self.give(self.machine, scopes),
                "expires_in": self.LIFE_S, "token_type": "Bearer"})
        plain = {account + "email": self.machine,
                 account + "scopes": "\n".join(self.machine_scopes) + "\n",
                 "project/project-id": "p",
                 "project/numeric-project-id": "123456789012",
                 "universe/universe-domain": "googleapis.com",
                 "universe/universe_domain": "googleapis.com",
                 "instance/zone": "projects/123456789012/zones/us-west4-a",
                 "": "instance/\nproject/\n"}
        if path in (account, "instance/service-accounts/default"):
            return json.dumps({"aliases": ["default"], "email": self.machine,
                               "scopes": self.machine_scopes})
        return plain.get(path)

    def write(self, folder, credentials, name="credentials.json"):
        path = pathlib.Path(folder, name)
        path.write_text(json.dumps(credentials))
        path.chmod(0o600)
        return str(path)
