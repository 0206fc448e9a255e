/**
 * Finding a sample by its id alone. Ids are derived, so nothing is indexed: the ids that a round must have are computed
 * and compared, and only the one object that holds the sample is read.
 */
import type { Policy } from '../../core/policy.ts';
import { deriveId } from '../../core/random.ts';
import { keys } from '../../core/schema/round.ts';
import { proposals, type Sample, type ScoredGroup, scoredGroup } from '../../core/schema/sample.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import type { Database } from '../../store/database.ts';
import { groupsOf } from '../../store/groups.ts';
import { readJson } from '../../store/objects.ts';
import { getRound, listRounds, type RoundRow } from '../../store/rounds.ts';
import { loadVersion } from '../../store/versions.ts';

/** Rounds that a search without a hint looks through, newest first. */
const SEARCHED_ROUNDS = 20;

const readable = (sample: Sample, tokenizer: Tokenizer | null) => ({
  ...sample,
  text: tokenizer && { prompt: tokenizer.decode(sample.prompt), completion: tokenizer.decode(sample.ids) },
});

/** A policy keeps the tokenizer it began with, and version 0 is there even where the round's own version was pruned. */
async function tokenizerOf(bucket: R2Bucket, ref: Policy['ref'] | undefined): Promise<Tokenizer | null> {
  if (!ref) return null;
  const { 'tokenizer.json': bytes } = await loadVersion(bucket, { ...ref, version: 0 }, ['tokenizer.json']);
  return bytes ? openTokenizer(JSON.parse(new TextDecoder().decode(bytes))) : null;
}

/** A scored group with its texts; null fields where it is not scored. */
export async function groupPage(bucket: R2Bucket, { id, spec }: RoundRow, group: string) {
  const scored = await readJson(bucket, keys.scored(id, group), scoredGroup);
  if (!scored) return { samples: null, judgments: null, gold: null, truth: null };
  const tokenizer = await tokenizerOf(bucket, spec.roles.solver);
  return {
    samples: scored.samples.map((sample) => readable(sample, tokenizer)),
    judgments: scored.judgments.map((sample) => readable(sample, tokenizer)),
    gold: scored.gold,
    truth: scored.truth,
  };
}

export async function findSample(db: Database, bucket: R2Bucket, wanted: string, round: string | undefined) {
  const rows = round ? [await getRound(db, round)] : await listRounds(db, { limit: SEARCHED_ROUNDS });
  for (const row of rows) {
    const found = row && (await findInRound(db, bucket, wanted, row, round !== undefined));
    if (found) return found;
  }
  return null;
}

/** Judgments of a solution that are looked for by their derived ids. */
const MOST_VOTES = 16;

/** Ids of a solver's rollouts of a group and of their judgments, as most recipes derive them: found without reading an object. */
function isDerivedFrom(group: string, rollouts: number, wanted: string): boolean {
  for (let i = 0; i < rollouts; i++) {
    const solverId = deriveId(group, 'solver', i);
    if (solverId === wanted) return true;
    for (let vote = 0; vote < MOST_VOTES; vote++)
      if (deriveId(solverId, 'judge', vote) === wanted) return true;
  }
  return false;
}

/** `everywhere`: reads every group of the round, for recipes whose samples have ids of another kind. */
async function findInRound(
  db: Database,
  bucket: R2Bucket,
  wanted: string,
  row: RoundRow,
  everywhere: boolean,
) {
  const { id, spec } = row;
  for (const { id: group, index, task } of await groupsOf(db, id)) {
    if (!everywhere && !isDerivedFrom(group, spec.settings.group, wanted)) continue;
    const scored = await readJson(bucket, keys.scored(id, group), scoredGroup);
    const sample = scored && inGroup(scored, wanted);
    if (!sample) continue;
    const tokenizer = await tokenizerOf(bucket, spec.roles[sample.role]);
    return { round: id, group, index, task, sample: readable(sample, tokenizer) };
  }
  return findProposal(bucket, wanted, row, everywhere);
}

const inGroup = ({ samples, judgments }: ScoredGroup, wanted: string) =>
  [...samples, ...judgments].find((sample) => sample.id === wanted);

/** Ids of proposals as trio derives them: tasks + a quarter a time, six times at most; deriving more than were used costs nothing. */
function isProposedIn({ id, spec }: RoundRow, wanted: string): boolean {
  for (let attempt = 0; attempt < 6; attempt++)
    for (let i = 0; i < 2 * spec.settings.tasks; i++)
      if (deriveId(id, 'proposer', attempt, i) === wanted) return true;
  return false;
}

async function findProposal(bucket: R2Bucket, wanted: string, row: RoundRow, everywhere: boolean) {
  const { id, spec, proposed } = row;
  if (proposed === 0 || !(everywhere || isProposedIn(row, wanted))) return null;
  const written = await readJson(bucket, keys.proposals(id), proposals);
  const sample = written?.samples.find((candidate) => candidate.id === wanted);
  if (!sample) return null;
  const admitted = written?.tasks.find(({ proposal }) => proposal === (sample.of ?? sample.id));
  const tokenizer = await tokenizerOf(bucket, spec.roles[sample.role]);
  return {
    round: id,
    group: admitted?.group ?? null,
    index: admitted?.index ?? null,
    task: admitted?.task ?? null,
    sample: readable(sample, tokenizer),
  };
}
