/**
 * The page /try: settings, a button, and what its thread tells of the run. Everything is computed in the thread (thread.ts); the charts, figures and
 * texts are the dashboard's. Nothing is stored: the settings are in the address, versions and records on the user's disk if they are saved.
 */
import { CurveWall } from '../../web/dashboard/curve-wall.js';
import { byId, h, listenToSkip, renew, setUsable } from '../../web/dashboard/dom.js';
import { download } from '../../web/dashboard/download.js';
import { counted, decimal, duration, size } from '../../web/dashboard/figures.js';
import { showFigures } from '../../web/dashboard/overview.js';
import { partsView } from '../../web/dashboard/parts.js';
import { Sentence } from '../../web/dashboard/sentence.js';
import type { VerifiedVersion } from '../verify/verify-version.ts';
import { readChosen } from './chosen-files.ts';
import { hashOf, settingsIn, type TrySettings } from './settings.ts';
import type { Asked, LastWords, OfferedRecipe, Told, UserFiles } from './told.ts';

type Point = Parameters<CurveWall['show']>[0][number];

function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = byId(id);
  if (found instanceof type) return found;
  throw new Error(`internal: the element ${id} is no ${type.name}`);
}

const select = (id: string) => element(id, HTMLSelectElement);
const input = (id: string) => element(id, HTMLInputElement);
const button = (id: string) => element(id, HTMLButtonElement);

const fields = {
  recipe: select('recipe'),
  reward: select('reward'),
  variant: select('variant'),
  freeze: select('freeze'),
  start: select('start-policy'),
  seed: input('seed'),
  rounds: input('rounds'),
  tasks: input('tasks'),
  group: input('group'),
};
const [start, pause] = [button('start'), button('pause')];
const files = { checkpoint: input('checkpoint'), questions: input('questions') };
const receipt = input('receipt');
const curves = new CurveWall(byId('curves'));

const sentence = new Sentence(byId('say'));
const say = (text: string): void => sentence.say(text);
function trouble(text: string): void {
  byId('trouble').hidden = text === '';
  byId('trouble').textContent = text;
}

const asking = new Worker(new URL('thread.js', import.meta.url), { type: 'module' });
const ask = (asked: Asked, transfer: Transferable[] = []): void => asking.postMessage(asked, transfer);

let recipes: readonly OfferedRecipe[] = [];
let onQuestions: readonly string[] = [];
let starts: readonly string[] = [];
/** The picture of the registered run that the link names. */
let registered = '';
let points: Point[] = [];
/** The run that the thread has begun; its settings cannot change any more, but its rounds can grow. */
let played: TrySettings | undefined;
let state: 'loading' | 'idle' | 'running' | 'pausing' | 'paused' | 'checking' | 'broken' = 'loading';
let began = 0;
let roundsBefore = 0;

const settingsOf = (): TrySettings => ({
  recipe: fields.recipe.value,
  reward: fields.reward.value,
  variant: fields.variant.value,
  freeze: fields.freeze.value,
  start: fields.start.value,
  registered,
  seed: fields.seed.valueAsNumber,
  rounds: fields.rounds.valueAsNumber,
  tasks: fields.tasks.valueAsNumber,
  group: fields.group.valueAsNumber,
});

/** Shows which controls can be used. */
function showState(): void {
  const idle = state === 'idle';
  setUsable(start, idle);
  const goesOn = idle && played && points.length > 0;
  start.textContent = goesOn ? 'Start anew' : 'Start';
  const hidden = ['loading', 'checking', 'broken'].includes(state) || (idle && !goesOn);
  if (hidden && document.activeElement === pause) start.focus();
  pause.hidden = hidden;
  setUsable(pause, state !== 'pausing');
  pause.textContent = idle
    ? 'Play on'
    : state === 'running'
      ? 'Pause'
      : state === 'pausing'
        ? 'Pausing'
        : 'Continue';
  for (const one of [button('forget'), button('check-receipt')]) setUsable(one, idle);
  // Return in a number's field starts a run, too, and leaves the focus there.
  for (const field of [...Object.values(fields), ...Object.values(files), receipt])
    if (field instanceof HTMLInputElement && field.type === 'number') field.readOnly = !idle;
    else field.disabled = !idle;
}

const chosen = (): OfferedRecipe | undefined => recipes.find(({ name }) => name === fields.recipe.value);

const options = (list: HTMLSelectElement, values: readonly string[], value: string | undefined): void => {
  list.replaceChildren(...values.map((one) => h('option', { value: one }, one || 'none')));
  if (value !== undefined && values.includes(value)) list.value = value;
};

/** The recipes that fit what is chosen, the rewards of the recipe, and the address. */
function showSettings(
  asked: {
    readonly [Name in 'recipe' | 'reward' | 'variant' | 'freeze' | 'start']?: string | undefined;
  } = {},
): void {
  const withQuestions = (files.questions.files?.length ?? 0) > 0;
  const names = withQuestions ? onQuestions : recipes.map(({ name }) => name);
  options(fields.recipe, names, asked.recipe ?? fields.recipe.value);
  const recipe = withQuestions ? undefined : chosen();
  fields.group.min = String(Math.min(2, recipe?.groupSize ?? 2));
  byId('recipe-about').textContent = recipe?.summary ?? 'Played over your questions.';
  const rewards = Object.keys(recipe?.rewards ?? {});
  options(fields.reward, withQuestions ? ['the recipe’s own'] : rewards, asked.reward ?? fields.reward.value);
  byId('reward-about').textContent = recipe?.rewards[fields.reward.value] ?? '';
  options(
    fields.variant,
    ['', ...Object.keys(recipe?.variants ?? {})],
    asked.variant ?? fields.variant.value,
  );
  byId('variant-about').textContent = recipe?.variants[fields.variant.value] ?? '';
  // Several roles at once, and another start policy, come from a link alone.
  const frozen = asked.freeze ?? fields.freeze.value;
  const freezable = recipe?.freezable ?? [];
  const together = frozen.includes(',') && frozen.split(',').every((role) => freezable.includes(role));
  options(fields.freeze, ['', ...freezable, ...(together ? [frozen] : [])], frozen);
  const from = asked.start ?? fields.start.value;
  options(fields.start, recipe && starts.includes(from) ? ['', from] : [''], from);
  showLink();
}

/** Says what a link asks for and the page does not have, in whose place stands what it has. */
function sayMissing(asked: ReturnType<typeof settingsIn>): void {
  const names = ['recipe', 'reward', 'variant', 'freeze', 'start'] as const;
  const missing = names.flatMap((name) =>
    asked[name] && asked[name] !== fields[name].value ? [`${name} ${asked[name]}`] : [],
  );
  if (missing.length)
    trouble(
      `The link asks for ${missing.join(', ')}, which this page does not have. The settings below are played in its place.`,
    );
}

/** The address, and the command that comes to the same bytes: of the settings, or of a run that was gone on with. */
function showLink(settings = settingsOf()): void {
  if (!element('play', HTMLFormElement).checkValidity()) return;
  history.replaceState(null, '', hashOf(settings));
  const { recipe, reward, variant, freeze, start: from, seed, rounds, tasks, group } = settings;
  byId('in-node').hidden = Object.values(files).some((file) => file.files?.length);
  const isDefault = reward === Object.keys(chosen()?.rewards ?? {})[0];
  byId('same').textContent = [
    `npx rollmesh start --in-process --engine kernels --recipe ${recipe}`,
    ...(isDefault ? [] : [`--reward ${reward}`]),
    ...(variant ? [`--variant ${variant}`] : []),
    ...(freeze ? [`--freeze ${freeze}`] : []),
    ...(from ? [`--policy ${from}`] : []),
    `--seed ${seed} --rounds ${rounds} --tasks-per-round ${tasks}`,
    ...(group === chosen()?.groupSize ? [] : [`--group-size ${group}`]),
  ].join(' ');
}

/** The picture of a registered run, which lies beside the page on the documentation's site. */
function showRegistered(file: string): void {
  registered = file;
  const image = element('registered-curves', HTMLImageElement);
  byId('registered').hidden = file === '';
  if (file) image.src = `registered/${file}`;
  else image.removeAttribute('src');
}

async function play(more: boolean): Promise<void> {
  const settings = settingsOf();
  trouble('');
  state = 'running';
  showState();
  say('Starting.');
  began = performance.now();
  const read = (kind: keyof typeof files) =>
    more ? undefined : readChosen([...(files[kind].files ?? [])], kind);
  let [checkpoint, questions]: readonly (UserFiles | undefined)[] = [];
  try {
    checkpoint = await read('checkpoint');
    questions = await read('questions');
  } catch (error) {
    stopped(error instanceof Error ? error.message : String(error), false);
    return;
  }
  played = more && played ? { ...played, rounds: played.rounds + settings.rounds } : settings;
  if (!more) {
    points = [];
    showWords([]);
    byId('files').hidden = true;
  }
  const [file] = Object.entries(questions ?? {});
  ask({
    kind: 'play',
    more,
    settings: played,
    checkpoint,
    questions: file && { name: file[0], bytes: file[1] },
  });
}

/** The receipt that is checked: what it says of itself, when training began, the versions and groups that were trained again to the same bytes, and the last manifest of them. */
let checking:
  | {
      readonly about: Extract<Told, { kind: 'receipt' }>;
      readonly since: number;
      same: number;
      groups: number;
      manifest: string;
    }
  | undefined;

async function check(): Promise<void> {
  trouble('');
  state = 'checking';
  showState();
  say('Reading the receipt.');
  byId('checked').replaceChildren();
  checking = undefined;
  began = performance.now();
  try {
    const [bytes] = Object.values((await readChosen([...(receipt.files ?? [])], 'receipt')) ?? {});
    if (bytes) ask({ kind: 'check', receipt: bytes }, [bytes.buffer]);
  } catch (error) {
    stopped(error instanceof Error ? error.message : String(error), false);
  }
}

function showVerified({ version, same, files: compared, groups, wallMs }: VerifiedVersion): void {
  const differing = compared.filter(({ committed, trainedAgain }) => committed !== trainedAgain);
  byId('checked').append(
    h(
      'li',
      {},
      `Version ${version}, trained on ${groups} groups: `,
      same
        ? `the same bytes (${duration(wallMs)})`
        : h('strong', { class: 'bad' }, `other bytes in ${differing.map(({ file }) => file).join(', ')}`),
    ),
  );
}

function endCheck(): void {
  state = 'idle';
  showState();
  if (!checking) return;
  const { about, same, manifest } = checking;
  say(
    same === about.versions
      ? `These weights follow from these samples: ${same} of ${counted(about.versions, 'version')} of ${about.policy} came to the committed bytes, in ${duration(performance.now() - began)}. Manifest of version ${about.to}: ${manifest}.`
      : `Version ${about.from + same + 1} of ${about.policy} does not follow from its records. Later ones were not trained. A version that a GPU or another release (${about.madeBy}) trained may differ in its last bits.`,
  );
}

/** Says why nothing is played any more; `forGood`: nor can be. */
function stopped(why: string, forGood: boolean): void {
  state = forGood ? 'broken' : 'idle';
  showState();
  trouble(why);
  say(
    points.length > 1
      ? 'The run has stopped. What it came to so far is below and can be saved.'
      : 'Nothing is played.',
  );
}

function showRun(): void {
  for (const part of ['latest', 'charts']) byId(part).hidden = false;
  showFigures(byId('figures'), points, chosen()?.figures);
  curves.show(points, played?.rounds ?? 0, [], chosen()?.figures);
}

function showWords(words: readonly LastWords[]): void {
  const { roles = {}, cells = {} } = chosen() ?? {};
  byId('words').hidden = words.length === 0;
  renew(
    byId('words'),
    h('h2', {}, 'Last words ', h('span', {}, 'of each role, on one task of the newest round')),
    h(
      'dl',
      { class: 'words' },
      ...words.map(({ role, seen, said, outcome, reward }) =>
        h(
          'div',
          {},
          h(
            'dt',
            {},
            role,
            reward === undefined ? '' : h('span', { class: 'note' }, ` reward ${decimal(reward)}`),
          ),
          h('dd', { class: 'note' }, roles[role] ?? ''),
          seen.length > 0 && h('dd', {}, h('span', { class: 'note' }, 'reads '), partsView(seen, cells)),
          h(
            'dd',
            {},
            h('span', { class: 'note' }, 'writes '),
            partsView(said, cells),
            outcome === 'ok' ? null : h('em', { class: 'bad' }, ` ${outcome}`),
          ),
        ),
      ),
    ),
  );
}

function showVersion(version: number, sha256: string): void {
  byId('files').hidden = false;
  renew(
    byId('version'),
    `Version ${version}: SHA-256 of its weights `,
    h('code', { id: 'sha256' }, sha256),
    '.',
  );
}

/** Rounds that were played since the button was pressed, for the pace. */
const paceOf = (round: number): string => {
  const seconds = (performance.now() - began) / 1000;
  return `${decimal((60 * (round - roundsBefore)) / seconds, 1)} rounds a minute`;
};

function hear(told: Told): void {
  switch (told.kind) {
    case 'ready': {
      ({ recipes, onQuestions, starts } = told);
      const asked = settingsIn(location.hash);
      showRegistered(asked.registered ?? '');
      for (const name of ['seed', 'rounds', 'tasks', 'group'] as const)
        if (asked[name] !== undefined) fields[name].value = String(asked[name]);
      state = 'idle';
      showSettings({ ...asked, recipe: asked.recipe ?? told.flagship });
      showState();
      say('Ready.');
      sayMissing(asked);
      break;
    }
    case 'started': {
      roundsBefore = told.done;
      byId('bits').textContent = `${told.device}; samples by ${told.arithmetic}.`;
      say([`Playing ${told.called}.`, ...told.notes].join(' '));
      break;
    }
    case 'evaluated': {
      points = [{ round: 0, report: { evaluation: told.evaluation } }];
      showVersion(told.evaluation.version, told.sha256);
      showRun();
      say('The version that the run begins from is evaluated. Round 1 is played.');
      break;
    }
    case 'round': {
      const { round, report, to, wallMs } = told.line;
      points = [...points, { round, report }];
      showVersion(to, told.sha256);
      showWords(told.words);
      showRun();
      sentence.progress(`Round ${round} of ${played?.rounds} took ${duration(wallMs)}: ${paceOf(round)}.`);
      break;
    }
    case 'receipt': {
      checking = { about: told, since: performance.now(), same: 0, groups: 0, manifest: '' };
      say(
        `${told.policy}@${told.to} (${size(told.bytes)}): ${counted(told.versions, 'version')} after version ${told.from} to train again, on ${told.groups} groups. Where they were made that took ${duration(told.trainedMs)}; the first one tells how long it takes here. ${told.comparison}`,
      );
      break;
    }
    case 'verified': {
      if (checking && told.version.same) {
        checking.same++;
        checking.groups += told.version.groups;
        checking.manifest = told.manifest;
        const { about, since, same, groups } = checking;
        const left = ((performance.now() - since) / groups) * (about.groups - groups);
        sentence.progress(
          `${same} of ${counted(about.versions, 'version')} came to the committed bytes: about ${duration(left)} are left.`,
        );
      }
      showVerified(told.version);
      break;
    }
    case 'checked':
      endCheck();
      break;
    case 'finished': {
      state = 'idle';
      if (played) showLink(played);
      showState();
      say(
        `The run has its ${played?.rounds === 1 ? 'round' : `${played?.rounds} rounds`}, in ${duration(performance.now() - began)}. Play on for more, or save the version.`,
      );
      break;
    }
    case 'paused': {
      state = 'paused';
      showState();
      say('Paused. Nothing is computed until you continue.');
      break;
    }
    case 'saved':
      download(told.name, 'application/octet-stream', told.bytes);
      break;
    case 'records':
      download(told.name, 'application/jsonl', told.bytes);
      break;
    case 'failed':
      stopped(told.message, told.fatal);
  }
}

listenToSkip();
asking.onmessage = ({ data }: MessageEvent<Told>) => hear(data);
asking.onerror = ({ message }) =>
  stopped(`The page’s thread has failed: ${message || 'its file is not there'}. Load the page again.`, true);

element('play', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void play(false);
});
// A field that is not filled in as it should be is shown, so that the browser can say so at it.
document.addEventListener(
  'invalid',
  ({ target }) => {
    const folded = target instanceof Element && target.closest('details');
    if (folded) folded.open = true;
  },
  { capture: true },
);
element('check', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void check();
});
pause.addEventListener('click', () => {
  if (state === 'idle') void play(true);
  else if (state === 'running') {
    ask({ kind: 'pause' });
    state = 'pausing';
    say('Pausing after what is being computed.');
  } else {
    ask({ kind: 'resume' });
    state = 'running';
    say('Going on.');
  }
  showState();
});
for (const kind of ['save', 'records'] as const) button(kind).addEventListener('click', () => ask({ kind }));
const { recipe, reward, variant, freeze, start: from } = fields;
// The curves of a registered run are of its recipe alone.
for (const list of [recipe, files.questions]) list.addEventListener('change', () => showRegistered(''));
for (const list of [recipe, reward, variant, freeze, from, ...Object.values(files)])
  list.addEventListener('change', () => showSettings());
for (const name of ['seed', 'rounds', 'tasks', 'group'] as const)
  fields[name].addEventListener('input', () => showLink());
button('forget').addEventListener('click', () => {
  for (const file of Object.values(files)) file.value = '';
  showSettings();
  say('No file is chosen.');
});

element('registered-curves', HTMLImageElement).addEventListener('error', () => showRegistered(''));

/** What the browser did to a page that nobody looked at. */
let hiddenAt = 0;
let frozenAt = 0;
function note(text: string): void {
  byId('hidden-note').hidden = text === '';
  byId('hidden-note').textContent = text;
}
document.addEventListener('visibilitychange', () => {
  if (!['running', 'pausing', 'checking'].includes(state)) return;
  if (document.hidden) {
    hiddenAt = performance.now();
    note(
      'This page is in the background: browsers slow such pages down and may suspend them. The run goes on where it stopped.',
    );
  } else if (!frozenAt)
    note(
      `This page was in the background for ${duration(performance.now() - hiddenAt)}, where browsers slow pages down. Nothing is lost.`,
    );
});
document.addEventListener('freeze', () => {
  frozenAt = performance.now();
});
document.addEventListener('resume', () => {
  if (frozenAt)
    note(
      `The browser suspended this page for ${duration(performance.now() - frozenAt)}. Nothing is lost: the run goes on where it stopped.`,
    );
  frozenAt = 0;
});
if ((document as { readonly wasDiscarded?: boolean }).wasDiscarded)
  note(
    'The browser closed this page in the background to save memory, and the run with it. The address has its settings: started again, it comes to the same versions.',
  );
