# SPDX-License-Identifier: Apache-2.0
"""Refusals in the form and the words of the Cloud TPU API."""

# google.rpc.Code: the name and the status of HTTP.
CODES = {
    1: ("CANCELLED", 499), 2: ("UNKNOWN", 500), 3: ("INVALID_ARGUMENT", 400),
    4: ("DEADLINE_EXCEEDED", 504), 5: ("NOT_FOUND", 404),
    6: ("ALREADY_EXISTS", 409), 7: ("PERMISSION_DENIED", 403),
    8: ("RESOURCE_EXHAUSTED", 429), 9: ("FAILED_PRECONDITION", 400),
    10: ("ABORTED", 409), 11: ("OUT_OF_RANGE", 400),
    12: ("UNIMPLEMENTED", 501), 13: ("INTERNAL", 500),
    14: ("UNAVAILABLE", 503), 16: ("UNAUTHENTICATED", 401),
}
TYPES = "type.googleapis.com/google.rpc."
EID = "[EID: 0x5f1e2d3c4b5a6978]"


class Refusal(Exception):
    """What the API says instead of an answer."""

    def __init__(self, code, message, *details):
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = list(details)

    @property
    def http_status(self):
        return CODES[self.code][1]

    def body(self):
        return error_body(self.code, self.message, *self.details)

    def status(self):
        """google.rpc.Status: the error of an operation."""
        return {"code": self.code, "message": self.message,
                **({"details": self.details} if self.details else {})}


def error_body(code, message, *details):
    name, http = CODES[code]
    return {"error": {"code": http, "message": message, "status": name,
                      **({"details": list(details)} if details else {})}}


def error_info(reason, domain="googleapis.com", **metadata):
    return {"@type": TYPES + "ErrorInfo", "reason": reason, "domain": domain,
            "metadata": metadata}


def retry_info(seconds):
    return {"@type": TYPES + "RetryInfo", "retryDelay": f"{seconds:g}s"}


def quota_failure(subject, description):
    return {"@type": TYPES + "QuotaFailure",
            "violations": [{"subject": subject, "description": description}]}


def unauthenticated(reason="ACCESS_TOKEN_EXPIRED"):
    return Refusal(
        16, "Request had invalid authentication credentials. Expected OAuth 2 "
        "access token, login cookie or other valid authentication credential.",
        error_info(reason, service="tpu.googleapis.com"))


def anonymous():
    return Refusal(
        16, "Request is missing required authentication credential. Expected "
        "OAuth 2 access token, login cookie or other valid authentication "
        "credential.",
        error_info("CREDENTIALS_MISSING", service="tpu.googleapis.com"))


def scope_insufficient():
    return Refusal(
        7, "Request had insufficient authentication scopes.",
        error_info("ACCESS_TOKEN_SCOPE_INSUFFICIENT",
                   service="tpu.googleapis.com"))


def service_disabled(number):
    return Refusal(
        7, f"Cloud TPU API has not been used in project {number} before or it "
        "is disabled. Enable it by visiting https://console.developers.google"
        f".com/apis/api/tpu.googleapis.com/overview?project={number} then "
        "retry. If you enabled this API recently, wait a few minutes for the "
        "action to propagate to our systems and retry.",
        error_info("SERVICE_DISABLED", service="tpu.googleapis.com",
                   consumer=f"projects/{number}"))


def billing_disabled(project):
    return Refusal(
        7, "This API method requires billing to be enabled. Please enable "
        f"billing on project #{project} then retry.",
        error_info("BILLING_DISABLED", service="tpu.googleapis.com",
                   consumer=f"projects/{project}"))


def permission_denied(permission, resource):
    return Refusal(
        7, f"Permission '{permission}' denied on '{resource}'",
        error_info("IAM_PERMISSION_DENIED", "iam.googleapis.com",
                   permission=permission, resource=resource))


def not_found(resource):
    return Refusal(5, f"Resource '{resource}' was not found")


def type_not_found(accelerator, zone):
    return Refusal(
        3, "Cloud TPU received a bad request. the accelerator "
        f"{accelerator} was not found in zone {zone} {EID}")


def version_not_found(version):
    return Refusal(
        3, "Cloud TPU received an invalid argument. The field "
        f'"RuntimeVersion" cannot be "{version}".')


def already_exists(resource):
    return Refusal(6, f"Resource '{resource}' already exists")


def no_quota(metric, limit, region):
    return Refusal(
        8, f"Quota limit '{metric}' has been exceeded. Limit: {limit} in "
        f"region {region}.",
        error_info("RATE_LIMIT_EXCEEDED" if limit is None
                   else "RESOURCE_QUOTA_EXCEEDED",
                   quota_metric="tpu.googleapis.com/" + metric,
                   quota_limit=metric, quota_limit_value=str(limit)))


def rate_limit(seconds):
    return Refusal(
        8, "Quota exceeded for quota metric 'Read requests' and limit 'Read "
        "requests per minute' of service 'tpu.googleapis.com' for consumer "
        "'project_number:123456789012'.",
        error_info("RATE_LIMIT_EXCEEDED", service="tpu.googleapis.com",
                   quota_limit="ReadRequestsPerMinutePerProject",
                   consumer="projects/123456789012"),
        retry_info(seconds))


def stock_out(zone):
    return Refusal(
        8, f'There is no more capacity in the zone "{zone}"; you can try in '
        "another zone where Cloud TPU Nodes are offered (see "
        f"https://cloud.google.com/tpu/docs/regions) {EID}")


def no_reservation():
    return Refusal(8, "Insufficient reserved capacity. Contact customer "
                   "support to increase your reservation.")


def unavailable():
    return Refusal(14, "The service is currently unavailable.")
