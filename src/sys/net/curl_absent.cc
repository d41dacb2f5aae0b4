// SPDX-License-Identifier: Apache-2.0
// The parts of libcurl that a client of http and https never reaches (GSS-API,
// LDAP, RTMP) have no static archives. Their functions are here, and fail.

#define MUSTER_ABSENT(name) \
  extern "C" long name();   \
  extern "C" long name() {  \
    return -1;              \
  }

MUSTER_ABSENT(gss_delete_sec_context)
MUSTER_ABSENT(gss_display_name)
MUSTER_ABSENT(gss_display_status)
MUSTER_ABSENT(gss_import_name)
MUSTER_ABSENT(gss_init_sec_context)
MUSTER_ABSENT(gss_inquire_context)
MUSTER_ABSENT(gss_release_buffer)
MUSTER_ABSENT(gss_release_name)
MUSTER_ABSENT(gss_unwrap)
MUSTER_ABSENT(gss_wrap)

MUSTER_ABSENT(ber_bvfree)
MUSTER_ABSENT(ber_free)
MUSTER_ABSENT(ber_memfree)
MUSTER_ABSENT(ber_sockbuf_add_io)
MUSTER_ABSENT(ldap_abandon_ext)
MUSTER_ABSENT(ldap_err2string)
MUSTER_ABSENT(ldap_free_urldesc)
MUSTER_ABSENT(ldap_get_attribute_ber)
MUSTER_ABSENT(ldap_get_dn_ber)
MUSTER_ABSENT(ldap_get_option)
MUSTER_ABSENT(ldap_init_fd)
MUSTER_ABSENT(ldap_memfree)
MUSTER_ABSENT(ldap_msgfree)
MUSTER_ABSENT(ldap_msgtype)
MUSTER_ABSENT(ldap_parse_result)
MUSTER_ABSENT(ldap_parse_sasl_bind_result)
MUSTER_ABSENT(ldap_pvt_url_scheme2proto)
MUSTER_ABSENT(ldap_result)
MUSTER_ABSENT(ldap_sasl_bind)
MUSTER_ABSENT(ldap_search_ext)
MUSTER_ABSENT(ldap_set_option)
MUSTER_ABSENT(ldap_start_tls)
MUSTER_ABSENT(ldap_unbind_ext)
MUSTER_ABSENT(ldap_url_parse)

MUSTER_ABSENT(RTMP_Alloc)
MUSTER_ABSENT(RTMP_Close)
MUSTER_ABSENT(RTMP_Connect1)
MUSTER_ABSENT(RTMP_ConnectStream)
MUSTER_ABSENT(RTMP_Free)
MUSTER_ABSENT(RTMP_Init)
MUSTER_ABSENT(RTMP_Read)
MUSTER_ABSENT(RTMP_SetBufferMS)
MUSTER_ABSENT(RTMP_SetupURL)
MUSTER_ABSENT(RTMP_Write)

// The name is libgssapi's.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" const void* const GSS_C_NT_HOSTBASED_SERVICE;
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" const void* const GSS_C_NT_HOSTBASED_SERVICE = nullptr;
