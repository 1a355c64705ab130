// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/message.h"

#define COMMENT '#'
#define BLANKS " \t\r"
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

char *line_word(char *line, char **rest)
{
	return strtok_r(line, BLANKS, rest);
}

/* Without its comment. */
static bool says_something(char *line)
{
	line[strcspn(line, (const char[]){ COMMENT, '\0' })] = '\0';
	return line[strspn(line, BLANKS)];
}

char *lines_begin(char *text)
{
	const size_t length = strlen(BYTE_ORDER_MARK);

	return text + (strncmp(text, BYTE_ORDER_MARK, length) ? 0 : length);
}

bool lines_parse(const char *path, char *text, size_t size, line_take *take, void *data)
{
	char *const end = text + size;
	unsigned int number = 0;
	bool taken = true;

	text = lines_begin(text);
	while (text < end && taken) {
		char *line = text;
		size_t length = strcspn(line, "\n");

		text += length + 1;
		message_set_place("%s:%u", path, ++number);
		if (line + length < end && line[length] != '\n') {
			taken = fail(0, "contains a NUL byte: not a text file");
			break;
		}
		line[length] = '\0';
		taken = !says_something(line) || take(data, line);
	}
	message_set_place(NULL);
	return taken;
}

/* Is it a file, or a pipe without a name, as a shell makes for <(COMMAND)? */
static bool is_readable(int fd)
{
	struct stat file;
	struct statfs fs;

	return !fstat(fd, &file) && !fstatfs(fd, &fs) &&
	       (S_ISREG(file.st_mode) || (S_ISFIFO(file.st_mode) && fs.f_type == PIPEFS_MAGIC));
}

/* A file descriptor, or -1, which is reported. */
static int open_file(const char *path)
{
	/* O_NONBLOCK: a FIFO with a name would make us wait for a writer. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0 && (!is_readable(fd) || fcntl(fd, F_SETFL, O_RDONLY))) {
		close(fd);
		fd = -1;
		errno = ENXIO; /* as of a socket */
	}
	if (fd < 0)
		fail(errno, "%s: cannot be read: %s", path,
		     errno == ENXIO ? "it is not a regular file" : strerror(errno));
	return fd;
}

bool lines_load(const char *path, char *text, size_t most, size_t *size)
{
	const int fd = open_file(path);
	ssize_t got;
	int error;

	if (fd < 0)
		return false;
	*size = 0;
	while ((got = read(fd, text + *size, most + 1 - *size)) > 0)
		*size += (size_t)got;
	error = errno;
	close(fd);
	if (got < 0)
		return fail(error, "%s: cannot be read: %s", path, strerror(error));
	if (*size > most)
		return fail(0, "%s: longer than %zu bytes: is it another file?", path, most);
	text[*size] = '\0';
	return true;
}

bool lines_read(const char *path, line_take *take, void *data)
{
	static char text[LINES_SIZE_MAX + 1];
	size_t size;

	return lines_load(path, text, LINES_SIZE_MAX, &size) &&
	       lines_parse(path, text, size, take, data);
}
