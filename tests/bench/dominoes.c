/* Random play of the line games but French, as fast as plain C goes: the yardstick of
 * `dominozoo bench`. It deals the hands and makes the choices that random_play of
 * dominozoo.line.batch makes, so both must count the same.
 *
 * One build plays one game: every field of dominozoo.rules.LINE_RULES is a macro of its name in
 * capitals, so the compiler knows the rules.
 */
#include <stdint.h>
#include <string.h>
#ifdef __BMI2__
#include <immintrin.h>
#endif

#if CROSS
#error "French is not played here"
#endif

enum { TILES = 28, FIRST = NO_BLANK, DECK = TILES - NO_BLANK, NOBODY = -1 };
enum { OUT = 1, BLOCK = 2 };
enum { WINS, PIPS_OF_OTHERS };
enum { TIE_RESET, TIE_VOID, TIE_ESCALATE, TIE_DOUBLE };
/* Where the counts stand. */
enum { MOVES, HANDS, MATCHES, BY_OUT, BY_BLOCK, TIED, BY_SEAT, POINTS = BY_SEAT + 4 };

struct table {
    uint32_t seed[2], number, deals;
    uint32_t hands[4]; /* bit = tile id */
    uint32_t laid;     /* kept with KEY_CARD */
    int16_t scores[4], stake;
    int8_t poser, opener, seat;
    uint8_t decider, posing, by_rule, left_pose;
    uint64_t fits;     /* actions that fit the ends */
    uint8_t passes, drawn;
    uint8_t deck[TILES];
    uint32_t pose_tiles;
};

/* By action id, end * 28 + tile; 64 is what counting zeros of no action gives: it changes nothing. */
static uint32_t tile_bit[65];
static uint64_t flip[65];     /* actions that fit its end after it but not before, or the reverse */
static uint64_t fit[64];      /* actions that fit, by left number, right number << 3 */
static uint32_t kin[TILES];   /* tiles that share a number with this one, itself left out */
static uint8_t pips[4][128];  /* pip sums of seven tiles each */
static uint8_t high[TILES], low[TILES];
static uint32_t doubles;

static void fill_tables(void)
{
    for (int hi = 0, tile = 0; hi < 7; hi++)
        for (int lo = 0; lo <= hi; lo++, tile++) {
            high[tile] = hi, low[tile] = lo;
            doubles |= (uint32_t)(hi == lo) << tile;
            for (int end = 0; end < 2; end++)
                tile_bit[end * TILES + tile] = 1u << tile;
        }
    for (int tile = 0; tile < TILES; tile++) {
        for (int ends = 0; ends < 64; ends++)
            for (int end = 0; end < 2; end++) {
                int number = ends >> 3 * end & 7;
                if (high[tile] == number || low[tile] == number)
                    fit[ends] |= 1ull << (end * TILES + tile);
            }
        for (int other = FIRST; other < TILES; other++)
            if (other != tile && (high[other] == high[tile] || high[other] == low[tile]
                                  || low[other] == high[tile] || low[other] == low[tile]))
                kin[tile] |= 1u << other;
        for (int mask = 0; mask < 128; mask++)
            if (mask >> tile % 7 & 1)
                pips[tile / 7][mask] += high[tile] + low[tile];
    }
    for (int action = 0; action < 2 * TILES; action++) {
        uint64_t end = ((1ull << TILES) - 1) << action / TILES * TILES;
        flip[action] = (fit[9 * high[action % TILES]] ^ fit[9 * low[action % TILES]]) & end;
    }
}

static inline int pip_count(uint32_t hand)
{
    return pips[0][hand & 127] + pips[1][hand >> 7 & 127] + pips[2][hand >> 14 & 127]
        + pips[3][hand >> 21];
}

/* Index of the n-th one of a mask, from 0; 64 for the empty mask. */
static inline unsigned nth_bit(uint64_t mask, unsigned n)
{
#ifdef __BMI2__
    return _tzcnt_u64(_pdep_u64(1ull << n, mask));
#else
    while (n--)
        mask &= mask - 1;
    return mask ? __builtin_ctzll(mask) : 64;
#endif
}

static inline uint32_t xorshift(uint32_t x)
{
    x ^= x << 13;
    x ^= x >> 17;
    return x ^ x << 5;
}

static inline unsigned choose(uint64_t legal, uint32_t word)
{
    return nth_bit(legal, (uint64_t)word * __builtin_popcountll(legal) >> 32);
}

struct sfc32 { uint32_t a, b, c, d; };

static inline uint32_t next(struct sfc32 *s)
{
    uint32_t out = s->a + s->b + s->d;
    s->a = s->b ^ s->b >> 9;
    s->b = s->c + (s->c << 3);
    s->c = (s->c << 21 | s->c >> 11) + out;
    s->d += 1;
    return out;
}

static void shuffle(struct table *t)
{
    struct sfc32 s = { t->seed[0], t->seed[1], t->number, t->deals };
    for (int k = 0; k < 15; k++)
        next(&s);
    for (int k = 0; k < DECK; k++)
        t->deck[k] = FIRST + k;
    for (int k = DECK - 1; k > 0; k--) {
        int j = (uint64_t)next(&s) * (k + 1) >> 32;
        uint8_t tile = t->deck[k];
        t->deck[k] = t->deck[j];
        t->deck[j] = tile;
    }
}

static int holder(const struct table *t, int tile)
{
    int seat = 0;
    while (!(t->hands[seat] >> tile & 1))
        seat++;
    return seat;
}

/* The highest double dealt, else the heaviest tile; equal sums: the larger single number. */
static int opening_tile(uint32_t dealt)
{
    if (dealt & doubles)
        return 31 - __builtin_clz(dealt & doubles);
    int best = 0, best_weight = -1;
    for (int tile = FIRST; tile < TILES; tile++) {
        int weight = (high[tile] + low[tile]) * 7 + high[tile];
        if (dealt >> tile & 1 && weight > best_weight)
            best = tile, best_weight = weight;
    }
    return best;
}

static void deal(struct table *t)
{
    uint32_t dealt = 0;
    shuffle(t);
    t->deals++;
    for (int seat = 0; seat < PLAYERS; seat++) {
        uint32_t hand = 0;
        for (int k = 0; k < HAND_SIZE; k++)
            hand |= 1u << t->deck[seat * HAND_SIZE + k];
        t->hands[seat] = hand;
        dealt |= hand;
    }
    t->laid = 0, t->passes = 0, t->drawn = PLAYERS * HAND_SIZE;
    t->posing = 1, t->left_pose = 0;
    t->by_rule = ALWAYS_BY_RULE || t->poser == NOBODY;
    if (t->by_rule) {
        int tile = opening_tile(dealt);
        t->seat = holder(t, tile);
        t->pose_tiles = INFORMAL ? t->hands[t->seat] : 1u << tile;
    } else {
        t->seat = t->poser;
        t->pose_tiles = t->hands[t->seat];
    }
}

static void zero_scores(struct table *t)
{
    memset(t->scores, 0, sizeof t->scores);
    t->stake = 1, t->decider = 0, t->poser = NOBODY;
}

static void start_match(struct table *t)
{
    zero_scores(t);
    deal(t);
}

/* One move of the pose: a tile, or with TEAM_POSER the winner leaves it to his partner. */
static void pose(struct table *t, uint32_t word)
{
    uint64_t legal = t->pose_tiles;
    int may_leave = TEAM_POSER && !t->by_rule && !t->left_pose;
    unsigned action = choose(legal | (uint64_t)may_leave << 57, word);
    if (action == 57) {
        t->seat = (t->seat + 2) % 4;
        t->left_pose = 1;
        t->pose_tiles = t->hands[t->seat];
        return;
    }
    t->opener = t->seat;
    t->posing = 0;
    t->fits = fit[high[action] | low[action] << 3];
    t->hands[t->seat] &= ~(1u << action);
    t->laid |= 1u << action;
    t->seat = (t->seat + 1) % PLAYERS;
}

/* Moves of one hand until it ends or `moves` have been made; returns OUT, BLOCK or 0. No branch
 * depends on the choice but the one that ends the loop: a pass plays action 64. */
static int play_hand(struct table *t, uint32_t *word, int64_t *moves, int *key)
{
    uint32_t x = *word, laid = t->laid;
    uint64_t fits = t->fits;
    unsigned passes = t->passes, seat = t->seat, drawn = t->drawn;
    int64_t left = *moves;
    int how = 0;
    do {
        uint32_t hand = t->hands[seat];
        uint64_t legal = ((uint64_t)hand << TILES | hand) & fits;
        x = xorshift(x);
        unsigned action = choose(legal, x), stuck = legal == 0, draws = 0;
        left--;
        uint64_t before = fits;
        fits ^= flip[action];
        hand &= ~tile_bit[action];
        if (DRAW) {
            draws = stuck & (drawn < DECK);
            hand |= draws << t->deck[drawn < DECK ? drawn : 0];
            drawn += draws;
        }
        passes = stuck ? passes + 1 - draws : 0;
        t->hands[seat] = hand;
        if ((hand == 0) | (passes == PLAYERS)) {
            how = hand == 0 ? OUT : BLOCK;
            if (KEY_CARD && how == OUT) {
                unsigned tile = action % TILES;
                uint64_t both = (1ull << tile) | (1ull << (TILES + tile));
                *key = !(tile_bit[tile] & doubles) && (before & both) == both
                    && (kin[tile] & ~laid) == 0;
            }
            break;
        }
        if (KEY_CARD)
            laid |= tile_bit[action];
        unsigned next_seat = seat + 1 == PLAYERS ? 0 : seat + 1;
        seat = DRAW && draws ? seat : next_seat;
    } while (left);
    *word = x, *moves = left;
    t->fits = fits, t->passes = passes, t->seat = seat, t->drawn = drawn, t->laid = laid;
    return how;
}

static int block_count(const struct table *t, int seat)
{
    int count = pip_count(t->hands[seat]);
    return PAIR_TOTALS ? count + pip_count(t->hands[(seat + 2) % 4]) : count;
}

/* Seat that wins a block: of the side with the lowest count the one with fewest pips, equal: the
 * first from the opener. NOBODY: sides share the lowest count. */
static int block_winner(const struct table *t)
{
    int best = 1 << 20, side = NOBODY;
    for (int seat = 0; seat < PLAYERS; seat++) {
        int count = block_count(t, seat);
        if (count < best)
            best = count, side = seat % SIDES;
        else if (count == best && seat % SIDES != side)
            side = NOBODY;
    }
    if (SIDES == PLAYERS || side == NOBODY)
        return side;
    int fewest = 1 << 20, winner = NOBODY;
    for (int k = 0; k < PLAYERS; k++) {
        int seat = (t->opener + k) % PLAYERS, count = pip_count(t->hands[seat]);
        if (seat % SIDES == side && count < fewest)
            fewest = count, winner = seat;
    }
    return winner;
}

/* Scoring returns whether the match is over. */
static int score_pips(struct table *t, int seat, int64_t *counts)
{
    int points = 0;
    for (int other = 0; other < PLAYERS; other++)
        points += other == seat ? 0 : pip_count(t->hands[other]);
    counts[POINTS] += points;
    t->scores[seat] += points;
    return t->scores[seat] >= TARGET;
}

static int add_points(struct table *t, int seat, int points)
{
    t->scores[seat % SIDES] += points;
    t->poser = seat, t->stake = 1, t->decider = 0;
    return t->scores[seat % SIDES] >= TARGET;
}

static int score_win(struct table *t, int seat, int key, int64_t *counts)
{
    int side = seat % SIDES, points = key && t->stake < 2 ? 2 : t->stake;
    int scored = 0, above_one = t->scores[side] > 1;
    for (int other = 0; other < SIDES; other++)
        if (other != side)
            scored += t->scores[other] > 0, above_one |= t->scores[other] > 1;
    counts[POINTS] += points;
    if (t->decider) {
        zero_scores(t);
        return add_points(t, seat, points);
    }
    if (LEADER_LOSS ? scored == 0 : scored != SIDES - 1)
        return add_points(t, seat, points);
    if (DECIDER && t->stake == 1 && points == 1 && t->scores[side] == 0 && !above_one) {
        t->stake = 2, t->decider = 1, t->poser = NOBODY;
        return 0;
    }
    zero_scores(t);
    return BRUCK_END;
}

static void score_tie(struct table *t)
{
    t->poser = NOBODY;
    if (TIE == TIE_ESCALATE)
        t->stake++;
    else if (TIE == TIE_DOUBLE)
        t->stake = 2;
    else if (TIE == TIE_RESET)
        zero_scores(t);
}

static void end_hand(struct table *t, int how, int key, int64_t *counts)
{
    int seat = how == OUT ? t->seat : block_winner(t), over = 0;
    counts[HANDS]++;
    counts[how == OUT ? BY_OUT : seat == NOBODY ? TIED : BY_BLOCK]++;
    if (seat != NOBODY) {
        counts[BY_SEAT + seat]++;
        over = SCORING == WINS ? score_win(t, seat, key, counts) : score_pips(t, seat, counts);
    } else if (SCORING == WINS)
        score_tie(t);
    counts[MATCHES] += over;
    if (over)
        start_match(t);
    else
        deal(t);
}

int64_t table_size(void)
{
    return sizeof(struct table);
}

/* Tables (seed, first), (seed, first + 1), ... at the start of a match. */
void start_tables(struct table *tables, int64_t count, uint32_t low_seed, uint32_t high_seed,
                  uint32_t first)
{
    if (!doubles)
        fill_tables();
    for (int64_t i = 0; i < count; i++) {
        memset(&tables[i], 0, sizeof tables[i]);
        tables[i].seed[0] = low_seed, tables[i].seed[1] = high_seed;
        tables[i].number = first + i;
        start_match(&tables[i]);
    }
}

/* `moves` random legal moves on each table in turn; `words` (count) choose, `counts` (16) add up. */
void random_play(struct table *tables, int64_t count, uint32_t *words, int64_t moves,
                 int64_t *counts)
{
    for (int64_t i = 0; i < count; i++) {
        struct table *t = &tables[i];
        uint32_t word = words[i];
        for (int64_t left = moves; left > 0;) {
            int how = 0, key = 0;
            if (t->posing) {
                word = xorshift(word);
                pose(t, word);
                left--;
            } else
                how = play_hand(t, &word, &left, &key);
            if (how)
                end_hand(t, how, key, counts);
        }
        words[i] = word;
        counts[MOVES] += moves;
    }
}
