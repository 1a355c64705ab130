/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The name of a flow (include/flow_name.h) in words. */
#ifndef FLOW_TEXT_H
#define FLOW_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "flow_name.h"

#define FLOW_NAME_TEXT_MAX 256
#define FLOW_ADDRESS_MAX 46 /* INET6_ADDRSTRLEN */

/* "10.0.0.1:5001 > 10.0.0.2:443, udp"; what is not known is said. Writes to `text`
 * (FLOW_NAME_TEXT_MAX bytes) and returns it.
 */
const char *flow_name_text(const struct flow_name *name, char *text);

/* An address of it, `text` has FLOW_ADDRESS_MAX bytes; NULL: unknown. */
const char *flow_name_address(const struct flow_name *name, bool is_source, char *text);

/* "udp", or its number, `text` has FLOW_PROTOCOL_MAX bytes; NULL: unknown. */
#define FLOW_PROTOCOL_MAX 16
const char *flow_name_protocol(const struct flow_name *name, char *text);

/* Has its protocol ports, or an SPI, whether they are known or not? */
bool flow_name_may_have_ports(const struct flow_name *name);
bool flow_name_may_have_spi(const struct flow_name *name);

#endif /* FLOW_TEXT_H */
