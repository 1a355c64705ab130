/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ShapedDevices.csv of LibreQoS (github.com/LibreQoE/LibreQoS, src/LibreQoS.py of version 2):
 * comma- separated, the first row names the columns. A row is a device, a circuit with all its
 * devices is a subscriber, named by its Circuit ID. Its parent node is in network.json beside it
 * (network.h).
 */
#ifndef SUBSCRIBERS_LIBREQOS_H
#define SUBSCRIBERS_LIBREQOS_H

#include "subscribers/list.h"

/* Does a text begin with the names of the columns, behind lines that say nothing? */
bool libreqos_is_header(char *text);

/* As own_parse(). */
bool libreqos_parse(const char *path, char *text, size_t size, struct subscribers *list);

#endif /* SUBSCRIBERS_LIBREQOS_H */
