/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The pins that keep our programs and maps alive. */
#ifndef PINS_H
#define PINS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernel/object_shape.h"
#include "pinned/pin_dir.h"

#define PINS_OTHER_VERSION                                                                      \
	"another version of bpf_dualpi2 is loaded: unload it from all interfaces with its own " \
	"dualpi2-load --unload, or `rm -r " PIN_DIR "`"

/* `dir`: a directory in that of our pins, which pin_create() makes; "": that of our pins itself. */

/* A pinned object as a new fd, or -errno (-ENOENT: there is none; -EISDIR: a directory is in its
 * place; -EUCLEAN: somebody else could have put it there, see pin_dir_trust()).
 */
int pin_open(const char *dir, const char *name);

/* The same if it is an object of this shape. -EPROTO: it is not; it is of another version or
 * somebody else's.
 */
int pin_open_as(const char *dir, const char *name, const struct object_shape *shape);

/* Report why a pin could not be opened (-errno), and the remedy. Always false. */
bool pin_refuse(int error, const char *dir, const char *name);

int pin_exists(const char *dir, const char *name);

bool pin_create(int fd, const char *dir, const char *name);

/* The same of a link that is new, and close it: if it cannot be pinned it is detached. */
bool pin_link(int link, const char *dir, const char *name);

/* The name of what is pinned for a number, as PREFIX12, written to `name`; and the number that such
 * a name ends with.
 */
#define PIN_NAME_MAX 64
const char *pin_numbered(const char *prefix, __u64 number, char name[PIN_NAME_MAX]);
__u64 pin_number(const char *name);

/* Remove a link, which is detached at once, not some time after its last reference is gone. It is
 * fine if there is no pin of that name. Reports what fails. A pin that is no link stays, and is
 * reported.
 */
void pin_remove(const char *dir, const char *name);

/* A file descriptor of our own for what a libbpf object has, which closes its; -1: it could not be
 * had.
 */
int fd_of_our_own(int fd);

/* Pin a value: a map of one element. pin_read(): 0, or -errno (-ENOENT: there is none; -EPROTO:
 * what is pinned is no value of this size).
 */
bool pin_value(const char *dir, const char *name, const void *value, size_t size);
int pin_read(const char *dir, const char *name, void *value, size_t size);

/* Remove only the pin, whatever it is; a link may have another. */
bool pin_forget(const char *dir, const char *name);

/* All pins, for pins_next(); NULL: there are none, or it is reported why they cannot be read. */
DIR *pins_list(const char *dir);

/* Remove all pins, and the directory. Links are detached. */
void pins_remove_all(const char *dir);

/* The same where all should be links: a pin that is none stays, and is reported. */
void pins_remove_links(const char *dir);

/* The name of the next one that begins with `prefix`, which may be removed; NULL: there is none,
 * and the list is closed.
 */
const char *pins_next(DIR *pins, const char *prefix);

/* ---- for everybody ----------------------------------------------------------------- */

/* Pin an object a second time, so that everybody may open it to read, if the BPF file system
 * itself lets them pass. Statistics are no secret: `tc -s qdisc show` tells most of them to
 * everybody. It is no failure if we may not, because only our directory of pins is ours.
 */
bool pin_publish(int fd, const char *dir, const char *name);

/* Open a map of this shape to read: a new fd, or -errno, as pin_open_as(). */
int pin_open_public(const char *dir, const char *name, const struct object_shape *shape);

/* Report why it could not be opened (-errno, but not -EPROTO). Always false. */
bool pin_refuse_public(int error, const char *dir);

/* Remove all of a directory, and what is empty then. */
void pins_unpublish(const char *dir);

#endif /* PINS_H */
