// SPDX-License-Identifier: Apache-2.0
// Which project and which zone are meant.
#pragma once

#include <optional>
#include <string>

#include "muster/cluster.h"
#include "sys/host.h"

namespace muster::cloud {

// `given` is the flag's. Then GOOGLE_CLOUD_PROJECT, GCLOUD_PROJECT,
// CLOUDSDK_CORE_PROJECT, `of_file` (project_id of the credentials), gcloud's
// configuration. The metadata server is for the caller to ask. nullopt: nobody
// tells.
std::optional<Sourced<std::string>> FindProject(
    const std::optional<std::string>& given, const std::string& of_file,
    const sys::Host& host);
// `given`, CLOUDSDK_COMPUTE_ZONE, gcloud's configuration.
std::optional<Sourced<std::string>> FindZone(
    const std::optional<std::string>& given, const sys::Host& host);

// A value of gcloud's active configuration: ("core", "project").
std::optional<Sourced<std::string>> GcloudProperty(const std::string& section,
                                                   const std::string& name,
                                                   const sys::Host& host);

// "us-west4-a"; a region is "us-west4".
bool IsZone(const std::string& text);
bool IsRegion(const std::string& text);

}  // namespace muster::cloud
