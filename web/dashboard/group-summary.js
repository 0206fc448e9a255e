/** What a group's samples come to, and the filters and orders of a round's tasks. Pure. */

/** @typedef {import('./api.js').GroupContent} GroupContent */
/** @typedef {import('./api.js').ReadableSample} ReadableSample */
/** @typedef {import('./api.js').Group} Group */

/**
 * @typedef {object} Episode
 * @property {readonly ReadableSample[]} turns
 * @property {boolean | null} answerExact Is the answer exact? null = the checker has no verdict.
 * @property {boolean | null} solutionExact Is all of it exact, every step?
 * @property {readonly ReadableSample[]} judgments
 * @property {number | null} reward
 */

/** The episodes of a group, in order; a sample of one turn is an episode, too. @param {GroupContent} content @returns {Episode[]} */
export function episodesOf({ samples, judgments, answersExact, solutionsExact }) {
  /** @type {Map<string, { turns: ReadableSample[], at: number }>} */
  const episodes = new Map();
  for (const [at, sample] of (samples ?? []).entries()) {
    const key = sample.of ?? sample.id;
    const known = episodes.get(key);
    if (known) known.turns.push(sample);
    else episodes.set(key, { turns: [sample], at });
  }
  return [...episodes.values()].map(({ turns, at }) => {
    const ids = new Set(turns.map(({ id }) => id));
    return {
      turns,
      answerExact: answersExact?.[at] ?? null,
      solutionExact: solutionsExact?.[at] ?? null,
      judgments: withJudgmentsOf(ids, judgments ?? []),
      reward: turns[0]?.rewards.reward ?? null,
    };
  });
}

/** The seat of an episode that several roles speak in: its rewards are compared with that seat's alone. @param {Episode} episode */
export const seatOf = ({ turns: [first] }) => (first?.episode === undefined ? undefined : first.role);

/** The judgments of some samples, each followed by the judgments of itself. @param {ReadonlySet<string>} ids @param {readonly ReadableSample[]} judgments @returns {ReadableSample[]} */
const withJudgmentsOf = (ids, judgments) =>
  judgments
    .filter(({ of }) => of !== undefined && ids.has(of))
    .flatMap((judgment) => [judgment, ...withJudgmentsOf(new Set([judgment.id]), judgments)]);

/** @param {readonly number[]} values */
const mean = (values) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : null);

/** @param {GroupContent} content */
export function summaryOf(content) {
  const episodes = episodesOf(content);
  const rewards = episodes.flatMap(({ reward }) => reward ?? []);
  const all = [...(content.samples ?? []), ...(content.judgments ?? [])];
  return {
    episodes,
    reward: mean(rewards),
    equal:
      rewards.length > 1 &&
      episodes.every((episode) => {
        const seat = seatOf(episode);
        const first = episodes.find((other) => other.reward !== null && seatOf(other) === seat);
        return episode.reward === null || episode.reward === first?.reward;
      }),
    exact: episodes.filter(({ answerExact }) => answerExact === true).length,
    checked: episodes.filter(({ answerExact }) => answerExact !== null).length,
    invalid: all.filter(({ outcome }) => outcome !== 'ok').length,
    disagreeing: all.filter(({ oracle }) => oracle?.hit === false).length,
    longest: Math.max(0, ...episodes.map(({ turns }) => turns.reduce((sum, { ids }) => sum + ids.length, 0))),
    text: [content.task, ...all.flatMap(({ text, outcome }) => [text?.completion ?? '', outcome])]
      .join('\n')
      .toLowerCase(),
  };
}
/** @typedef {ReturnType<typeof summaryOf>} Summary */

/** @type {Readonly<Record<string, { name: string, admits: (summary: Summary) => boolean }>>} */
export const FILTERS = {
  all: { name: 'all tasks', admits: () => true },
  mixed: { name: 'some exact, some not', admits: ({ exact, checked }) => exact > 0 && exact < checked },
  none: { name: 'none exact', admits: ({ exact, checked }) => checked > 0 && exact === 0 },
  exact: { name: 'all exact', admits: ({ exact, checked }) => checked > 0 && exact === checked },
  disagree: { name: 'judge ≠ checker', admits: ({ disagreeing }) => disagreeing > 0 },
  equal: { name: 'equal rewards (no signal)', admits: ({ equal }) => equal },
  invalid: { name: 'with texts that do not parse', admits: ({ invalid }) => invalid > 0 },
};

/** @type {Readonly<Record<string, { name: string, key: (summary: Summary) => number }>>} */
export const ORDERS = {
  index: { name: 'in order', key: () => 0 },
  best: { name: 'highest reward first', key: ({ reward }) => -(reward ?? Number.NEGATIVE_INFINITY) },
  worst: { name: 'lowest reward first', key: ({ reward }) => reward ?? Number.POSITIVE_INFINITY },
  longest: { name: 'longest first', key: ({ longest }) => -longest },
};

/**
 * The groups that pass, in the order asked for. Groups whose samples are not there yet pass only where nothing is asked of samples.
 * @template {Group} T
 * @param {readonly T[]} groups
 * @param {ReadonlyMap<string, Summary>} summaries by group
 * @param {{ filter: string, order: string, text: string, least: number, most: number }} asked `least` and `most`: bounds of the mean reward, NaN = none
 */
export function selected(groups, summaries, { filter, order, text, least, most }) {
  const { admits } = FILTERS[filter] ?? { admits: () => true };
  const key = ORDERS[order]?.key ?? (() => 0);
  const wanted = text.trim().toLowerCase();
  const passing = groups.filter(({ group, task }) => {
    const summary = summaries.get(group);
    const bounded = !Number.isNaN(least) || !Number.isNaN(most);
    if (!summary) return filter === 'all' && !bounded && task.toLowerCase().includes(wanted);
    const { reward } = summary;
    // A comparison with NaN is false.
    if (bounded && (reward === null || reward < least || reward > most)) return false;
    return admits(summary) && summary.text.includes(wanted);
  });
  const keyOf = (/** @type {T} */ { group }) => {
    const summary = summaries.get(group);
    return summary ? key(summary) : 0;
  };
  return passing.toSorted((a, b) => keyOf(a) - keyOf(b) || a.index - b.index);
}
