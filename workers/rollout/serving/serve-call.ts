/**
 * Answers one call of an agent, and records it as a part of its episode: with the version and the settings of the episode's round, drawn by
 * an id that follows from the episode and the number of the call. The answer is stored before it is told, and counts from then on.
 */
import { callSampleId } from '../../../core/episodes/agent-episode.ts';
import { RollmeshError, wrongInput } from '../../../core/errors.ts';
import { bringImages } from '../../../core/images/shown.ts';
import type { Completion, PolicyRef, SamplingSettings, TokenIds } from '../../../core/policy/policy.ts';
import { deriveId } from '../../../core/random.ts';
import { refOf, roleOf, samplingOf, textOfRole } from '../../../core/recipe/round-context.ts';
import type { Message, Tool } from '../../../core/renderer/message.ts';
import type { PolicyText } from '../../../core/renderer/policy-text.ts';
import {
  type CallOrder,
  type EpisodeKey,
  MOST_CALLS,
  nameOfEpisode,
  type RecordedCall,
  recordedCall,
} from '../../../core/schema/agent.ts';
import { expectOwnSampling } from '../../../core/serving/episode-order.ts';
import { withImageTexts } from '../../../core/serving/image-parts.ts';
import { answeredMessage, nameOf, type Prompt, type ServingOrder } from '../../../core/serving/order.ts';
import { canonicalJson } from '../../../core/text/canonical-json.ts';
import { expectOpen } from '../../shared/agent-episodes.ts';
import { type StageMesh, stageParts } from '../../shared/stage-mesh.ts';
import {
  beginCall,
  type CallRow,
  callKey,
  callsThatLeft,
  callThatAsked,
  endCall,
} from '../../store/episodes.ts';
import { putJsonOver, readJson, readJsonObject } from '../../store/objects.ts';
import { readTasks, storeImage } from '../../store/stored-tasks.ts';
import { ENDPOINTS } from './endpoints.ts';
import { respond, type SoFar } from './respond.ts';
import { choiceOf, drawMs, expectBudget, prepare, type ReadPrompt, readPrompt } from './sample.ts';
import { headingOf } from './serve.ts';

/**
 * How much the clocks of Workers and of the object store may differ. What was stored longer before an episode was opened is of one that was
 * held before about the same task, a day ago at least, and was forgotten (workers/store/episodes.ts).
 */
const CLOCK_SKEW_MS = 60_000;

/** Conversations with equal hashes have equal messages and tools. */
const dialogueHash = (messages: readonly Message[], tools: readonly Tool[] | undefined): string =>
  deriveId('dialogue', canonicalJson([tools ?? null, messages]));

const promptOf = ({ prompts }: ServingOrder): Prompt => {
  const [prompt, ...others] = prompts as [Prompt, ...Prompt[]];
  if (others.length === 0) return prompt;
  throw wrongInput('episode.prompts', `The request has ${prompts.length} prompts.`, {
    expected: 'one prompt a call, in an episode',
  });
};

/** The call that the request begins, or that it began before: one that is sent again is no second call. */
async function callOf(
  { db, now }: StageMesh,
  { key, again, body, endpoint, role, ...episode }: CallOrder,
): Promise<CallRow> {
  // Seats may be held by programs that know nothing of each other's keys: each has its own.
  const asked = deriveId('asked', role, endpoint, canonicalJson(body));
  const before = key === null && again ? await callThatAsked(db, episode, asked) : undefined;
  const request = before?.request ?? (key === null ? crypto.randomUUID() : deriveId('key', role, key));
  const call = await beginCall(db, episode, { role, request, asked }, now());
  if (call?.asked === asked) return call;
  if (call)
    throw wrongInput('episode.key', 'This idempotency key was used for another request of the episode.', {
      next: 'Send every request under a key of its own.',
    });
  await expectOpen(db, episode);
  throw new RollmeshError(
    'give-up',
    'episode.calls',
    `The episode ${nameOfEpisode(episode)} has had ${MOST_CALLS} calls, as many as one may have.`,
    { next: 'Post its reward.' },
  );
}

/**
 * The prompt as token ids. Where a conversation goes on from an answer that its seat got in this episode, its prompt begins with the very
 * ids of that call and its answer: nothing that was sampled is encoded a second time. Any other prompt stands by itself.
 */
async function readCall(
  { db, bucket }: StageMesh,
  round: string,
  episode: EpisodeKey,
  { role, turn: before }: Pick<CallRow, 'role' | 'turn'>,
  prompt: Prompt,
  text: PolicyText,
): Promise<ReadPrompt> {
  if (prompt.kind !== 'messages') return readPrompt(prompt, text);
  const { messages, tools } = prompt;
  // Of every conversation that this one begins with and that ends with an answer, the longest first.
  const parts = messages
    .flatMap(({ role }, at) => (role === 'assistant' && at + 1 < messages.length ? [at + 1] : []))
    .map((length) => ({ length, hash: dialogueHash(messages.slice(0, length), tools) }))
    .reverse();
  const rows = parts.length
    ? await callsThatLeft(
        db,
        episode,
        role,
        parts.map(({ hash }) => hash),
      )
    : [];
  for (const { length, hash } of parts) {
    const row = rows.find(({ dialogue, turn }) => dialogue === hash && turn < before);
    const call = row && (await readJson(bucket, callKey(round, episode, row.turn), recordedCall));
    if (!call?.dialogue) continue;
    const renderer = text.renderer();
    const asked = { tools, ...call.dialogue, ids: call.prompt, mask: call.prompt.map(() => 0 as const) };
    try {
      const dialogue = renderer.ask(renderer.answer(asked, call.completion.ids), messages.slice(length));
      return { ids: dialogue.ids, dialogue };
    } catch (error) {
      // A template that rewrites what was said before: the prompt then stands by itself.
      if (!(error instanceof RollmeshError) || error.code !== 'renderer.history') throw error;
    }
  }
  return readPrompt(prompt, text);
}

/** Draws the answer. It is drawn to its end even where nobody reads it any more: half an answer would be none of the policy's. */
async function draw(
  mesh: StageMesh,
  ref: PolicyRef,
  ids: TokenIds,
  sampleId: string,
  settings: SamplingSettings,
  soFar: SoFar | undefined,
): Promise<Completion> {
  const [[completion]] = (await mesh.session.use(ref, (policy) => {
    expectBudget(drawMs(policy, ids.length, settings), mesh.cpuBudgetMs, 1, settings.maxNew);
    return policy.generate(
      [{ ids, sampleIds: [sampleId] }],
      settings,
      soFar &&
        (async (completions) => {
          await soFar(completions);
          return true;
        }),
    );
  })) as [[Completion]];
  return completion;
}

const recordOf = (
  prompt: TokenIds,
  maxNew: number,
  completion: Completion,
  { dialogue }: ReadPrompt,
): RecordedCall => ({
  prompt: [...prompt],
  maxNew,
  completion: {
    ids: [...completion.ids],
    logprobs: [...completion.logprobs],
    stopped: completion.stopped,
    ...(completion.alternatives ? { alternatives: completion.alternatives.map((those) => [...those]) } : {}),
  },
  ...(dialogue
    ? {
        dialogue: {
          messages: [...dialogue.messages],
          ...(dialogue.tools ? { tools: [...dialogue.tools] } : {}),
          text: dialogue.text,
        },
      }
    : {}),
});

export async function serveCall(
  mesh: StageMesh,
  asked: CallOrder,
  keep: (work: Promise<unknown>) => void,
): Promise<Response> {
  const { endpoint, body, role } = asked;
  const episode: EpisodeKey = { group: asked.group, sample: asked.sample };
  const { round: row, episode: held } = await expectOpen(mesh.db, episode);
  const { spec } = row;
  const order = ENDPOINTS[endpoint].read(await withImageTexts(body));
  const given = promptOf(order);
  const parts = await stageParts(mesh, row);
  const { recipe } = parts;
  const text: PolicyText = await textOfRole(parts, role);
  const { renderer } = text;
  const ref = refOf(spec, role);
  if (order.form)
    throw wrongInput('episode.sampling', 'A form of JSON is asked for, which is not how this run samples.', {
      next: 'Leave it out: what is trained on is drawn by the settings of the run.',
    });
  expectOwnSampling(body, roleOf(recipe, role).sampling, ref, renderer().ends().stop);

  const { turn } = await callOf(mesh, asked);
  const key = callKey(spec.id, episode, turn);
  const there = await readJsonObject(mesh.bucket, key, recordedCall);
  const stored = there && there.uploaded.getTime() > held.openedAt - CLOCK_SKEW_MS ? there.value : null;
  const read: ReadPrompt = stored
    ? { ids: stored.prompt }
    : await readCall(mesh, spec.id, episode, { role, turn }, given, text);
  const prepared = prepare({ ...order, maxNew: undefined }, text, [read]);
  const own = samplingOf({ recipe, ...text }, role);
  const settings = {
    ...own,
    maxNew: Math.min(own.maxNew, prepared.settings.maxNew, order.maxNew ?? own.maxNew),
    ...(order.alternatives ? { alternatives: order.alternatives } : {}),
  };
  const sampleId = callSampleId(episode.group, role, episode.sample, turn);
  const heading = headingOf(endpoint, ref, sampleId, null, mesh.now());

  const answer = async (soFar?: SoFar): Promise<Completion[][]> => {
    let record = stored;
    if (!record) {
      // An earlier call may have shown images to another isolate; those of this one are read again by whoever trains.
      await bringImages([read.ids], {
        read: (sha256) => readTasks(mesh.bucket, sha256),
        put: (sha256, bytes) => storeImage(mesh.bucket, sha256, bytes),
      });
      const completion = await draw(mesh, ref, read.ids, sampleId, settings, soFar);
      record = recordOf(read.ids, settings.maxNew, completion, read);
      // A request that was sent twice may be answered twice at the same time: the first answer that is stored is the answer.
      if (!(await putJsonOver(mesh.bucket, key, record, there?.uploaded ?? null)))
        record = (await readJson(mesh.bucket, key, recordedCall)) ?? record;
    }
    const { completion } = record;
    const dialogue =
      given.kind === 'messages'
        ? dialogueHash(
            [...given.messages, answeredMessage(choiceOf(prepared, text, 0, completion))],
            given.tools,
          )
        : null;
    if (!(await endCall(mesh.db, episode, { turn, dialogue }, mesh.now()))) {
      await expectOpen(mesh.db, episode);
      throw new Error(`internal: call ${turn} of ${nameOf(ref)} was not noted`);
    }
    return [[completion]];
  };
  return respond({ endpoint, order, heading, prepared, text }, answer, keep);
}
