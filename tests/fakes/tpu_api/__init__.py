# SPDX-License-Identifier: Apache-2.0
"""A Cloud TPU API over real sockets and TLS, with the endpoints that give
tokens for it. It behaves as documented; time in it is virtual.

  with TpuApi(folder) as api:
      api.cloud.add_node("z", "t", "v5litepod-8")
      subprocess.run([...], env=api.environment())
"""
from .answers import Refusal, error_body
from .catalogue import Catalogue
from .cloud import Cloud
from .identity import Identity
from .server import Reply, TpuApi
from .virtual_clock import VirtualClock

__all__ = ["Catalogue", "Cloud", "Identity", "Refusal", "Reply", "TpuApi",
           "VirtualClock", "error_body"]
