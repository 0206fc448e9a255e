/** What the rounds of a run paid for the same task, read when it is asked for. */
import { getJson } from './api.js';
import { fill, h, scroller, setUsable, table } from './dom.js';
import { counted, decimal } from './figures.js';
import { summaryOf } from './group-summary.js';

/** @typedef {import('./api.js').Round} Round */
/** @typedef {import('./api.js').Group} Group */
/** @typedef {import('./api.js').GroupContent} GroupContent */

/** So many rounds are looked through, the newest of the run. */
const LOOKED_THROUGH = 200;
/** So many are asked for at once. */
const AT_ONCE = 4;

/**
 * The groups of this task in the rounds, in their order.
 * @param {readonly Round[]} rounds
 * @param {string} task
 * @param {() => boolean} wanted
 */
async function groupsOfTask(rounds, task, wanted) {
  /** @type {{ round: Round, content: GroupContent }[]} */
  const found = [];
  const left = rounds.toSorted((a, b) => a.index - b.index);
  const next = async () => {
    for (let round = left.shift(); round && wanted(); round = left.shift()) {
      /** @type {{ groups: Group[] }} */
      const { groups } = await getJson(`/api/rounds/${round.id}/groups`);
      for (const { group } of groups.filter((one) => one.task === task))
        found.push({ round, content: await getJson(`/api/rounds/${round.id}/groups/${group}`) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return found.sort((a, b) => a.round.index - b.round.index);
}

/**
 * @param {Round} round the round that is shown
 * @param {string} task the task as it was written
 * @param {(round: Round, group: string) => string} address
 */
export function taskRounds(round, task, address) {
  const button = h('button', { type: 'button', class: 'quiet' }, 'Its rewards over rounds');
  const said = h('p', { class: 'note', 'aria-live': 'polite' });
  const answer = h('div');
  button.addEventListener('click', async () => {
    setUsable(button, false);
    said.textContent = 'reading …';
    fill(answer);
    try {
      const query = new URLSearchParams({ run: round.run, limit: String(LOOKED_THROUGH) });
      /** @type {{ rounds: Round[] }} */
      const { rounds } = await getJson(`/api/rounds?${query}`);
      const found = await groupsOfTask(rounds, task, () => answer.isConnected);
      const rows = found.map(({ round: of, content }) => {
        const { reward, exact, checked, episodes } = summaryOf(content);
        const rewards = episodes.flatMap((episode) => episode.reward ?? []);
        return [
          h('a', { href: address(of, content.group) }, String(of.index)),
          decimal(reward),
          rewards.length
            ? `${decimal(Math.min(...rewards))} to ${decimal(Math.max(...rewards))}`
            : decimal(null),
          checked ? `${exact} of ${checked}` : decimal(null),
        ];
      });
      said.textContent = `Asked in ${counted(rows.length, 'group')} of ${counted(rounds.length, 'round')}.`;
      fill(
        answer,
        scroller(
          'The rewards of this task over rounds',
          table('The rewards of this task over rounds', ['round', 'mean reward', 'from, to', 'exact'], rows),
        ),
      );
    } catch (error) {
      said.textContent = error instanceof Error ? error.message : String(error);
    }
    setUsable(button, true);
  });
  return h('div', { class: 'over-rounds' }, button, said, answer);
}
