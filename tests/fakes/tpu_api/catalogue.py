# SPDX-License-Identifier: Apache-2.0
"""What each zone offers: types with their hosts, runtime versions."""

PLAIN = ["tpu-ubuntu2204-base", "tpu-vm-tf-2.17.0-pjrt",
         "tpu-vm-tf-2.17.0-pod-pjrt"]
OF_GENERATION = {
    "v2": ["tpu-ubuntu2204-base", "tpu-vm-tf-2.17.0", "tpu-vm-tf-2.17.0-pod"],
    "v4": ["tpu-ubuntu2204-base", "tpu-vm-tf-2.17.0", "tpu-vm-tf-2.17.0-pod"],
    "v5litepod": ["v2-alpha-tpuv5-lite", *PLAIN],
    "v5p": ["v2-alpha-tpuv5", *PLAIN],
    "v6e": ["v2-alpha-tpuv6e", *PLAIN],
}
TYPES = {
    "v2-8": ("V2", "2x2", 1), "v4-8": ("V4", "2x2x1", 1),
    "v4-16": ("V4", "2x2x2", 2), "v4-32": ("V4", "2x2x4", 4),
    "v5litepod-1": ("V5LITE_POD", "1x1", 1),
    "v5litepod-4": ("V5LITE_POD", "2x2", 1),
    "v5litepod-8": ("V5LITE_POD", "2x4", 1),
    "v5litepod-16": ("V5LITE_POD", "4x4", 4),
    "v5p-8": ("V5P", "2x2x1", 1), "v6e-8": ("V6E", "2x4", 1),
    "v6e-16": ("V6E", "4x4", 4),
}
ZONES = {
    "us-central1-b": ["v2-8"],
    "us-central2-b": ["v4-8", "v4-16", "v4-32"],
    "us-west4-a": ["v5litepod-1", "v5litepod-4", "v5litepod-8",
                   "v5litepod-16"],
    "europe-west4-b": ["v5litepod-4", "v5litepod-8", "v5litepod-16"],
    "us-east5-a": ["v5p-8", "v6e-8", "v6e-16"],
}


class Catalogue:
    """A test may change `zones`."""

    def __init__(self):
        self.zones = {zone: list(types) for zone, types in ZONES.items()}

    def hosts(self, accelerator):
        return TYPES[accelerator][2]

    def kind(self, accelerator):
        return TYPES[accelerator][0]

    def topology(self, accelerator):
        return TYPES[accelerator][1]

    def offers(self, zone, accelerator):
        return accelerator in self.zones.get(zone, [])

    def types(self, project, zone):
        return [{"name": f"projects/{project}/locations/{zone}"
                         f"/acceleratorTypes/{one}",
                 "type": one,
                 "acceleratorConfigs": [{"type": TYPES[one][0],
                                         "topology": TYPES[one][1]}]}
                for one in self.zones[zone]]

    def version_names(self, zone):
        names = []
        for one in self.zones[zone]:
            for name in OF_GENERATION[one.split("-")[0]]:
                if name not in names:
                    names.append(name)
        return names

    def versions(self, project, zone):
        return [{"name": f"projects/{project}/locations/{zone}"
                         f"/runtimeVersions/{one}", "version": one}
                for one in self.version_names(zone)]

    def locations(self, project):
        return [{"name": f"projects/{project}/locations/{zone}",
                 "locationId": zone} for zone in sorted(self.zones)]
