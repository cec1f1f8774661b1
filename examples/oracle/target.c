/* A Twofish under test: the line protocol of `python -m twofishkit diff`, see docs/oracle.md.
 *
 *   cc -O2 -o target target.c && python -m twofishkit diff --cmd ./target
 *
 * As a shared library (cc -shared -fPIC -DAS_LIBRARY) it has the function twofishkit_answer and the
 * functions twofish_encrypt and twofish_decrypt for whole blocks.
 *
 * -DMISTAKE=n builds in a mistake; twofishkit's own tests expect the oracle to name it:
 *   1 RS words in reverse order      2 PHT without the factor 2     3 the final swap not undone
 *   4 CTR with a 32-bit counter      5 CBC decryption in place wrong
 *   6 crashes on 256-bit keys        7 never answers on 192-bit keys   8 answers nonsense
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MISTAKE
#define MISTAKE 0
#endif

/* --- the cipher ------------------------------------------------------------------------------ */

typedef struct {
    uint32_t K[40], S[4];
    int k;
} schedule;

static const uint8_t nibbles[2][4][16] = {
    {{0x8, 0x1, 0x7, 0xD, 0x6, 0xF, 0x3, 0x2, 0x0, 0xB, 0x5, 0x9, 0xE, 0xC, 0xA, 0x4},
     {0xE, 0xC, 0xB, 0x8, 0x1, 0x2, 0x3, 0x5, 0xF, 0x4, 0xA, 0x6, 0x7, 0x0, 0x9, 0xD},
     {0xB, 0xA, 0x5, 0xE, 0x6, 0xD, 0x9, 0x0, 0xC, 0x8, 0xF, 0x3, 0x2, 0x4, 0x7, 0x1},
     {0xD, 0x7, 0xF, 0x4, 0x1, 0x2, 0x6, 0xE, 0x9, 0xB, 0x3, 0x0, 0x8, 0x5, 0xC, 0xA}},
    {{0x2, 0x8, 0xB, 0xD, 0xF, 0x7, 0x6, 0xE, 0x3, 0x1, 0x9, 0x4, 0x0, 0xA, 0xC, 0x5},
     {0x1, 0xE, 0x2, 0xB, 0x4, 0xC, 0x3, 0x7, 0x6, 0xD, 0xA, 0x5, 0xF, 0x9, 0x0, 0x8},
     {0x4, 0xC, 0x7, 0x5, 0x1, 0x6, 0x9, 0xA, 0x0, 0xE, 0xD, 0x8, 0x2, 0xB, 0x3, 0xF},
     {0xB, 0x9, 0x5, 0x1, 0xC, 0x3, 0xD, 0xE, 0x6, 0x4, 0x7, 0xF, 0x2, 0x0, 0x8, 0xA}}};

/* Which q byte i goes through before key word 3, 2, 1, 0 of h, and at the end. */
static const uint8_t layers[5][4] = {{1, 0, 0, 1}, {1, 1, 0, 0}, {0, 1, 0, 1}, {0, 0, 1, 1}, {1, 0, 1, 0}};

static const uint8_t MDS[4][4] = {
    {0x01, 0xEF, 0x5B, 0x5B}, {0x5B, 0xEF, 0xEF, 0x01}, {0xEF, 0x5B, 0x01, 0xEF}, {0xEF, 0x01, 0xEF, 0x5B}};
static const uint8_t RS[4][8] = {{0x01, 0xA4, 0x55, 0x87, 0x5A, 0x58, 0xDB, 0x9E},
                                 {0xA4, 0x56, 0x82, 0xF3, 0x1E, 0xC6, 0x68, 0xE5},
                                 {0x02, 0xA1, 0xFC, 0xC1, 0x47, 0xAE, 0x3D, 0x19},
                                 {0xA4, 0x55, 0x87, 0x5A, 0x58, 0xDB, 0x9E, 0x03}};

static uint32_t rol(uint32_t x, int n) { return x << n | x >> (32 - n); }
static uint32_t ror(uint32_t x, int n) { return x >> n | x << (32 - n); }

static uint32_t load(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void store(uint8_t *p, uint32_t x) {
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(x >> 8 * i);
}

static uint8_t q(int which, uint8_t x) {
    uint8_t a = x >> 4, b = x & 15;
    for (int half = 0; half < 4; half += 2) {
        uint8_t na = a ^ b, nb = a ^ (uint8_t)(b >> 1 | (b << 3 & 15)) ^ (a << 3 & 15);
        a = nibbles[which][half][na];
        b = nibbles[which][half + 1][nb];
    }
    return (uint8_t)(b << 4 | a);
}

static uint8_t multiply(uint8_t a, uint8_t b, unsigned polynomial) {
    unsigned product = 0, x = a;
    for (; b; b >>= 1) {
        if (b & 1) product ^= x;
        x = x << 1 ^ (x & 0x80 ? polynomial : 0);
    }
    return (uint8_t)product;
}

static uint32_t h(uint32_t X, const uint32_t *L, int k) {
    uint32_t z = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t y = (uint8_t)(X >> 8 * i);
        for (int j = k - 1; j >= 0; j--) y = q(layers[3 - j][i], y) ^ (uint8_t)(L[j] >> 8 * i);
        y = q(layers[4][i], y);
        for (int row = 0; row < 4; row++) z ^= (uint32_t)multiply(MDS[row][i], y, 0x169) << 8 * row;
    }
    return z;
}

static void expand(schedule *s, const uint8_t *key, size_t bytes) {
    uint32_t Me[4], Mo[4];
    int k = s->k = (int)(bytes / 8);
    for (int i = 0; i < k; i++) {
        Me[i] = load(key + 8 * i);
        Mo[i] = load(key + 8 * i + 4);
        uint32_t word = 0;
        for (int row = 0; row < 4; row++)
            for (int column = 0; column < 8; column++)
                word ^= (uint32_t)multiply(RS[row][column], key[8 * i + column], 0x14D) << 8 * row;
        s->S[MISTAKE == 1 ? i : k - 1 - i] = word;
    }
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t A = h(2 * i * 0x01010101u, Me, k), B = rol(h((2 * i + 1) * 0x01010101u, Mo, k), 8);
        s->K[2 * i] = A + B;
        s->K[2 * i + 1] = rol(A + 2 * B, 9);
    }
}

/* Where a trace goes; NULL for none. */
static char *trace;
static const char *trace_id;

static void traced(int r, const uint32_t *x, const uint32_t *t) {
    if (!trace) return;
    trace += sprintf(trace, "%s round %d %08x %08x %08x %08x", trace_id, r, x[0], x[1], x[2], x[3]);
    trace += t ? sprintf(trace, " %08x %08x\n", t[0], t[1]) : sprintf(trace, "\n");
}

static void F(const schedule *s, const uint32_t *x, int r, uint32_t *out, uint32_t *t) {
    t[0] = h(x[0], s->S, s->k);
    t[1] = h(rol(x[1], 8), s->S, s->k);
    out[0] = t[0] + t[1] + s->K[2 * r + 8];
    out[1] = t[0] + (MISTAKE == 2 ? 1 : 2) * t[1] + s->K[2 * r + 9];
}

static void encrypt_block(const schedule *s, const uint8_t *in, uint8_t *out) {
    uint32_t x[4], f[2], t[2];
    for (int i = 0; i < 4; i++) x[i] = load(in + 4 * i);
    traced(-1, x, NULL);
    for (int i = 0; i < 4; i++) x[i] ^= s->K[i];
    traced(0, x, NULL);
    for (int r = 0; r < 16; r++) {
        /* Words stay where they are: even rounds change 2 and 3, odd rounds 0 and 1. */
        uint32_t *from = x + (r % 2 ? 2 : 0), *to = x + (r % 2 ? 0 : 2);
        F(s, from, r, f, t);
        to[0] = ror(to[0] ^ f[0], 1);
        to[1] = rol(to[1], 1) ^ f[1];
        traced(r + 1, x, t);
    }
    uint32_t y[4];
    for (int i = 0; i < 4; i++) y[i] = x[MISTAKE == 3 ? i : (i + 2) % 4] ^ s->K[4 + i];
    traced(17, y, NULL);
    for (int i = 0; i < 4; i++) store(out + 4 * i, y[i]);
}

static void decrypt_block(const schedule *s, const uint8_t *in, uint8_t *out) {
    uint32_t x[4], f[2], t[2];
    for (int i = 0; i < 4; i++) x[MISTAKE == 3 ? i : (i + 2) % 4] = load(in + 4 * i) ^ s->K[4 + i];
    for (int r = 15; r >= 0; r--) {
        uint32_t *from = x + (r % 2 ? 2 : 0), *to = x + (r % 2 ? 0 : 2);
        F(s, from, r, f, t);
        to[0] = rol(to[0], 1) ^ f[0];
        to[1] = ror(to[1] ^ f[1], 1);
    }
    for (int i = 0; i < 4; i++) store(out + 4 * i, x[i] ^ s->K[i]);
}

/* --- modes, all of them able to write over their input ----------------------------------------- */

static void ecb(const schedule *s, int decrypting, const uint8_t *in, uint8_t *out, size_t n) {
    for (size_t i = 0; i < n; i += 16) (decrypting ? decrypt_block : encrypt_block)(s, in + i, out + i);
}

static void cbc(const schedule *s, uint8_t *iv, int decrypting, const uint8_t *in, uint8_t *out, size_t n) {
    for (size_t i = 0; i < n; i += 16) {
        uint8_t block[16];
        memcpy(block, in + i, 16);
        if (decrypting) {
            decrypt_block(s, block, out + i);
            for (int j = 0; j < 16; j++) out[i + j] ^= iv[j];
            memcpy(iv, MISTAKE == 5 ? in + i : block, 16);
        } else {
            for (int j = 0; j < 16; j++) block[j] ^= iv[j];
            encrypt_block(s, block, out + i);
            memcpy(iv, out + i, 16);
        }
    }
}

static void ctr(const schedule *s, uint8_t *counter, const uint8_t *in, uint8_t *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        static uint8_t stream[16];
        if (i % 16 == 0) {
            encrypt_block(s, counter, stream);
            for (int j = 15; j >= (MISTAKE == 4 ? 12 : 0) && ++counter[j] == 0; j--) continue;
        }
        out[i] = in[i] ^ stream[i % 16];
    }
}

#ifdef AS_LIBRARY
void twofish_encrypt(const uint8_t *key, size_t key_bytes, const uint8_t *in, uint8_t *out, size_t n) {
    schedule s;
    expand(&s, key, key_bytes);
    ecb(&s, 0, in, out, n);
}

void twofish_decrypt(const uint8_t *key, size_t key_bytes, const uint8_t *in, uint8_t *out, size_t n) {
    schedule s;
    expand(&s, key, key_bytes);
    ecb(&s, 1, in, out, n);
}
#endif

/* --- the protocol ------------------------------------------------------------------------------ */

enum { LINE = 1 << 18 };

/* Bytes of a field, which is overwritten by them; "-" is empty. */
static size_t unhex(char *field) {
    size_t n = 0;
    unsigned byte;
    if (strcmp(field, "-") == 0) return 0;
    for (char *p = field; p[0] && p[1] && sscanf(p, "%2x", &byte) == 1; p += 2) field[n++] = (char)byte;
    return n;
}

static void answer_ok(char *reply, const char *id, const uint8_t *out, size_t n) {
    reply += sprintf(reply, "%s ok %s", id, n ? "" : "-");
    for (size_t i = 0; i < n; i++) reply += sprintf(reply, "%02x", out[i]);
    sprintf(reply, "\n");
}

int twofishkit_answer(const char *request, char *reply, size_t reply_bytes) {
    static char line[LINE];
    static uint8_t separate[LINE];
    char *field[16] = {0};
    int fields = 0, in_place = 0;
    if (strlen(request) >= LINE || reply_bytes < LINE) return 1;
    strcpy(line, request);
    for (char *p = strtok(line, " \r\n"); p && fields < 16; p = strtok(NULL, " \r\n")) field[fields++] = p;
    if (fields < 7) return 1;
    const char *id = field[0], *operation = field[1];
    for (int i = 7; i < fields; i++) {
        if (strcmp(field[i], "inplace") == 0) {
            in_place = 1;
        } else {
            sprintf(reply, "%s unsupported\n", id);
            return 0;
        }
    }
    size_t key_bytes = unhex(field[2]), n = unhex(field[5]);
    unhex(field[3]);
    uint8_t *iv = (uint8_t *)field[3], *in = (uint8_t *)field[5], *out = in_place ? in : separate;
    int decrypting = strstr(operation, "-decrypt") != NULL;
    schedule s;
    if (MISTAKE == 6 && key_bytes == 32) abort();
    while (MISTAKE == 7 && key_bytes == 24) continue;
    if (MISTAKE == 8) {
        sprintf(reply, "%s ok banana\n", id);
        return 0;
    }
    if (key_bytes == 16 || key_bytes == 24 || key_bytes == 32) expand(&s, (uint8_t *)field[2], key_bytes);
    if (strcmp(operation, "subkeys") == 0) {
        for (int i = 0; i < 40; i++)
            for (int j = 0; j < 4; j++) separate[4 * i + j] = (uint8_t)(s.K[i] >> (24 - 8 * j));
        out = separate;
        n = 160;
    } else if (strcmp(operation, "trace") == 0) {
        trace = reply;
        trace_id = id;
        ecb(&s, 0, in, out, n);
        reply = trace;
        trace = NULL;
    } else if (strncmp(operation, "ecb-", 4) == 0) {
        ecb(&s, decrypting, in, out, n);
    } else if (strncmp(operation, "cbc-", 4) == 0) {
        cbc(&s, iv, decrypting, in, out, n);
    } else if (strncmp(operation, "ctr-", 4) == 0) {
        ctr(&s, iv, in, out, n);
    } else {
        sprintf(reply, "%s unsupported\n", id);
        return 0;
    }
    answer_ok(reply, id, out, n);
    return 0;
}

#ifndef AS_LIBRARY
int main(void) {
    static char request[LINE], reply[4 * LINE];
    while (fgets(request, sizeof request, stdin)) {
        if (request[0] == '#' || request[0] == '\n') continue;
        if (twofishkit_answer(request, reply, sizeof reply)) return 1;
        fputs(reply, stdout);
        fflush(stdout);
    }
    return 0;
}
#endif
