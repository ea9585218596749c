/* A minimal bot in C: protocol 1 of the Tute League, one JSON object a line (docs/protocol.md).
 *
 *     cc -O2 -static -o bot bot.c && zip bot.zip bot.toml bot
 *
 * It needs no JSON library: a request to act holds "legal":["play 1o","sing c",...] and "id":7, and these two are found by
 * looking for their names after the events. Cards never hold a quote or a backslash, so plain text search is safe there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 65536 /* the longest line of the protocol */

/* Card points by rank letter. */
static int value(char rank) {
    switch (rank) {
    case '1': return 11;
    case '3': return 10;
    case 'R': return 4;
    case 'C': return 3;
    case 'S': return 2;
    default: return 0;
    }
}

/* How much we like an action; the largest is chosen. Announcements first, then the cheapest card. */
static int liking(const char *action) {
    if (!strncmp(action, "tute ", 5)) return 300;
    if (!strncmp(action, "sing ", 5)) return 200;
    if (!strncmp(action, "exchange ", 9)) return 150;
    if (!strcmp(action, "pass")) return 100;
    if (!strncmp(action, "play ", 5)) return 50 - value(action[5]);
    if (!strcmp(action, "claim") || !strcmp(action, "capote") || !strcmp(action, "accuse")) return -100;
    return 0;
}

/* Copies the best of the quoted texts between list and the closing bracket into best. */
static void choose(const char *list, char *best, size_t size) {
    int most = -1000;
    const char *p = list;
    while (*p && *p != ']') {
        if (*p++ != '"') continue;
        const char *end = strchr(p, '"');
        if (!end) return;
        char action[128];
        size_t length = (size_t)(end - p);
        if (length < sizeof action && length < size) {
            memcpy(action, p, length);
            action[length] = '\0';
            if (liking(action) > most) {
                most = liking(action);
                memcpy(best, action, length + 1);
            }
        }
        p = end + 1;
    }
}

int main(void) {
    static char line[LINE + 2];
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"type\":\"hello\"")) {
            puts("{\"type\":\"ready\",\"name\":\"kit c\"}");
        } else if (strstr(line, "\"type\":\"act\"")) {
            const char *id = strstr(line, "\"id\":");
            const char *legal = strstr(line, "\"legal\":[");
            char best[128] = "";
            if (!id || !legal) return 1;
            choose(legal + strlen("\"legal\":["), best, sizeof best);
            printf("{\"id\":%ld,\"do\":\"%s\"}\n", strtol(id + strlen("\"id\":"), NULL, 10), best);
        }
        fflush(stdout); /* a pipe is not flushed line by line */
    }
    return 0;
}
