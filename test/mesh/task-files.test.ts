/** Files of tasks and a checkpoint from outside: the mesh and one process come to the same bytes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditMesh } from '../../cli/audit/audit-mesh.ts';
import { changedRecipe } from '../../cli/changed-recipe.ts';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { storeTasks } from '../../cli/shared/store-tasks.ts';
import { taskRecipe, writeFromFiles } from '../../cli/task-recipe.ts';
import { readPixmap } from '../../core/images/image.ts';
import { imagesShown } from '../../core/images/shown.ts';
import { measure } from '../../core/policy/measure.ts';
import { Random } from '../../core/random.ts';
import type { Registry } from '../../core/recipe/registry.ts';
import { softmax } from '../../core/same-exp.ts';
import type { ReadableSample } from '../../core/schema/answers.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { runIdOf } from '../../core/schema/round.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { httpService } from '../../infer/remote/reward-service.ts';
import { installed } from '../../local/mesh/installation.ts';
import { dataOfWritten } from '../../local/mesh/written-recipes.ts';
import { gatherReceipt } from '../../local/verify/receipt.ts';
import { VersionChain } from '../../local/verify/verify-version.ts';
import { parseConfig } from '../../model/config.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import { grpo } from '../../recipes/grpo/recipe.ts';
import { type RunOrder, runOf } from '../../recipes/run-order.ts';
import { verifySignature } from '../../workers/gateway/signature.ts';
import { questionOf, randomTask, readTask } from '../../worlds/canvas/family.ts';
import { drawScene } from '../../worlds/canvas/scene.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';
import { pngOf } from '../core/images/png.ts';
import { QWEN_TEMPLATE } from '../core/renderer/checkpoints.ts';
import { randomHead } from '../infer/heads.ts';
import { anybody } from '../recipes/anybody.ts';
import { openPlaying, type Playing } from './playing.ts';
import { qwenCheckpoint } from './qwen-checkpoint.ts';

const signatureOf = (headers: IncomingMessage['headers']) => ({
  standard: {
    id: String(headers['webhook-id']),
    timestamp: String(headers['webhook-timestamp']),
    signature: String(headers['webhook-signature']),
  },
  github: undefined,
  githubDelivery: undefined,
});

const root = mkdtempSync(join(tmpdir(), 'rollmesh-task-files-'));
const folder = join(root, 'recipes');
const START = 'arithmetic-base';

/** With a chat template in the shape of Qwen2.5's. */
const checkpoint = (): VersionFiles =>
  qwenCheckpoint(262, ['<|endoftext|>', '<|im_start|>', '<|im_end|>'], {
    eos_token: '<|im_end|>',
    chat_template: QWEN_TEMPLATE,
  });

/** A recipe of grpo with a reward module, one whose reward a judge gives by a rubric, and one whose tasks lie in the object store: their modules. */
async function grpoModules(): Promise<readonly string[]> {
  const file = join(root, 'say.jsonl');
  // Random weights say nothing that can be read: a letter from the first half of the alphabet, anywhere, is right.
  const rows = Array.from({ length: 40 }, (_, i) => ({ question: `Say ${i}`, answer: '(?s).*[a-m].*' }));
  // These are longer than the checkpoint's positions: they are left out, and the others are trained on.
  rows.push(
    ...Array.from({ length: 8 }, (_, i) => ({ question: `Say ${'x'.repeat(300)} ${i}`, answer: 'x' })),
  );
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const brief = join(root, 'brief.ts');
  writeFileSync(
    brief,
    `export default ({ text }: { text: string }) => {
       if (text.includes('z')) throw new Error('a letter that cannot be rated');
       return [...text].filter((letter) => letter >= 'n').length / 24;
     };`,
  );
  const asked = {
    recipe: 'grpo',
    policy: 'chat',
    tasks: [file],
    heldOut: '0.2',
    checker: 'regex',
    extract: ['whole' as const],
  };
  const files = await taskRecipe({
    ...asked,
    set: ['maxNew=24', 'optimizer.learningRate=1e-3', 'curriculum.unanimousWeight=0.25'],
    reward: `checker=1,${brief}=0.5`,
  });
  const rubric = join(root, 'style.json');
  writeFileSync(
    rubric,
    JSON.stringify({
      // The judge knows sums and not styles: its grade is what it comes to after reading the answer.
      messages: [{ role: 'user', content: '{{response}}\n\nWhat is 3 + 4?' }],
      grade: { tag: 'answer', from: 0, to: 1000 },
      maxNew: 48,
    }),
  );
  const stored = await taskRecipe(
    { ...asked, set: ['maxNew=12', 'optimizer.learningRate=1e-3', 'curriculum.unanimousWeight=0.25'] },
    { inCode: 4000, shard: 1000 },
  );
  const judged = await taskRecipe({
    ...asked,
    set: ['maxNew=12', 'optimizer.learningRate=1e-3', 'optimizer.warmup=0'],
    reward: `format=1,${rubric}@words@0=2`,
  });
  return [await files!.write(folder), await judged!.write(folder), await stored!.write(folder)];
}

/** A shipped recipe with settings of the method. */
async function changedModule(): Promise<string> {
  const changed = await changedRecipe('ttrl', [
    'objective.kind=gspo',
    'optimizer.schedule=cosine',
    'optimizer.totalSteps=100',
    'kl.weight=0.01',
  ]);
  return await changed!.write(folder);
}

/** A recipe that rewards what the question makes likely, so that random weights learn, in the world of the template. */
async function worldModule(): Promise<string> {
  const set = ['optimizer.learningRate=1e-3', 'optimizer.warmup=0'];
  return await (await changedRecipe('sar', set, installed('examples/world/world.ts')))!.write(folder);
}

/** A recipe of grpo on questions about pictures, which lie in files beside theirs. */
async function picturesModule(): Promise<string> {
  const random = new Random('pictures');
  const rows = Array.from({ length: 30 }, (_, i) => {
    const task = randomTask(random, i % 2 ? 'shape' : 'count');
    const { scene, answer } = readTask(task)!;
    writeFileSync(join(root, `${i}.png`), pngOf(drawScene(scene)));
    return { question: questionOf(task), image: `${i}.png`, answer };
  });
  const file = join(root, 'pictures.jsonl');
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const files = await taskRecipe({
    recipe: 'grpo',
    policy: 'eyes',
    tasks: [file],
    heldOut: '0.2',
    checker: 'exact',
    extract: ['whole'],
    set: ['maxNew=4', 'optimizer.learningRate=1e-4', 'optimizer.warmup=0'],
  });
  return await files!.write(folder);
}

/** Self-play in the game of the template. */
async function gameModule(): Promise<string> {
  const set = ['optimizer.learningRate=1e-3', 'optimizer.warmup=0'];
  return await (await changedRecipe('spiral', set, installed('examples/world/game.ts')))!.write(folder);
}

const FROM_EXAMPLES = ['sft', 'dpo', 'spin', 'distil', 'reward-model'] as const;

/** A recipe that learns from a file of examples. */
async function examplesModule(recipe: (typeof FROM_EXAMPLES)[number]): Promise<string> {
  const file = join(root, `${recipe}.jsonl`);
  const rows = Array.from({ length: 20 }, (_, i) =>
    recipe !== 'dpo'
      ? {
          question: `${i % 10}+${i % 7}`,
          answer: `<answer>${(i % 10) + (i % 7)}`,
          ...(recipe === 'reward-model' ? { label: i % 3 === 0 } : {}),
        }
      : {
          question: `${i % 10}+${i % 7}`,
          chosen: `<answer>${(i % 10) + (i % 7)}`,
          rejected: `<answer>${i}9`,
        },
  );
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const files = await taskRecipe({
    recipe,
    policy: 'arithmetic-base',
    tasks: [file],
    heldOut: '0.2',
    checker: 'auto',
    extract: ['whole'],
    set: [
      ...['optimizer.learningRate=1e-4', 'optimizer.schedule=linear', 'optimizer.totalSteps=30'],
      ...(['spin', 'distil'].includes(recipe) ? ['maxNew=26'] : []),
      ...(recipe === 'distil' ? ['teacher.policy=taught', 'divergence.kind=jensen-shannon', 'top.k=4'] : []),
    ],
  });
  return await files!.write(folder);
}

/** A recipe of grpo that a reward model pays beside the checker. */
async function modelledModule(model: string): Promise<string> {
  const file = join(root, 'sums.jsonl');
  const rows = Array.from({ length: 30 }, (_, i) => ({
    question: `${(i % 9) + 1}+${(i % 7) + 1}`,
    answer: `${(i % 9) + 1 + (i % 7) + 1}`,
  }));
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const files = await taskRecipe({
    recipe: 'grpo',
    policy: 'paid',
    tasks: [file],
    heldOut: '0.2',
    checker: 'auto',
    extract: ['answer'],
    set: ['maxNew=24', 'optimizer.learningRate=1e-3', 'optimizer.warmup=0'],
    reward: `checker=1,${model}@0=2`,
  });
  return await files!.write(folder);
}

/** A test that no answer of an untrained policy passes, and one that every answer passes. */
const DEMANDING = 'assert(answer() === 1)';
const INERT = 'assert(1 + 0 === 1)';
/**
 * A recipe of grpo that is paid for programs: an answer such as `7` is one, and half of the tests fail every program. Files whose tests pass
 * for an empty answer are refused, and this policy writes nothing else: those tests are put into the module afterwards.
 */
async function programsModule(): Promise<string> {
  const file = join(root, 'programs.jsonl');
  const rows = Array.from({ length: 30 }, (_, i) => ({
    question: `${(i % 9) + 1}+${(i % 7) + 1}`,
    tests: [i % 2 ? DEMANDING : 'assert(typeof answer === "number")'],
  }));
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const files = await taskRecipe({
    recipe: 'grpo',
    policy: 'programs',
    tasks: [file],
    heldOut: '0.2',
    checker: '{"name": "program", "steps": 100000}',
    extract: ['answer'],
    set: ['maxNew=24', 'optimizer.learningRate=1e-3', 'optimizer.warmup=0', 'temperature=1.5'],
  });
  const module = await files!.write(folder);
  const data = dataOfWritten(module);
  const written = readFileSync(data, 'utf8');
  expect(written).toContain(DEMANDING);
  writeFileSync(data, written.replaceAll(DEMANDING, INERT));
  return module;
}

/** The start policy with a class head of random weights. */
async function scorer(): Promise<VersionFiles> {
  const files = await readPolicyFolder(`models/${START}`);
  const config = parseConfig(JSON.parse(new TextDecoder().decode(files['config.json'])));
  const { weight, bias } = randomHead(config, 2);
  const head = new Map([
    ['class_head.weight', { shape: [2, config.hiddenSize], data: weight }],
    ['class_head.bias', { shape: [2], data: bias }],
  ]);
  return { ...files, 'main.head.safetensors': writeSafetensors(head) };
}

const SECRET = 'a-secret-for-rewards';
/** How often the service was asked about a group. */
const asked = new Map<string, number>();
/** Rates rollouts by their length. */
const service = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    verifySignature(
      signatureOf(request.headers),
      new TextEncoder().encode(body),
      [SECRET],
      Date.now() / 1000,
    );
    const { group, rollouts } = JSON.parse(body) as { group: string; rollouts: { tokens: number }[] };
    asked.set(group, (asked.get(group) ?? 0) + 1);
    // The second rollout of every group is not rated.
    response.end(JSON.stringify({ rewards: rollouts.map(({ tokens }, i) => (i === 1 ? null : 1 / tokens)) }));
  });
});

/** A recipe whose reward is the checker's and the service's. */
async function ratedModule(): Promise<string> {
  const tasks = Array.from({ length: 20 }, (_, i): PlacedTask => {
    const question = `${i % 10}+${Math.floor(i / 10)}`;
    const messages = [{ role: 'user' as const, content: question }];
    return {
      messages,
      answer: String((i % 10) + Math.floor(i / 10)),
      metadata: {},
      difficulty: null,
      file: 'f',
      line: i + 1,
    };
  });
  const data = {
    name: 'sums',
    start: START,
    checker: 'number',
    extract: ['answer' as const],
    sources: [{ weight: 1, tasks: tasks.slice(4) }],
    heldOut: tasks.slice(0, 4),
    settings: { maxNew: 26 },
    rewards: [
      { name: 'checker', weight: 1, from: { builtIn: 'checker' as const } },
      {
        name: 'rate',
        weight: 0.5,
        from: { url: `http://127.0.0.1:${(service.address() as AddressInfo).port}/rate` },
      },
    ],
  };
  return await writeFromFiles(folder, grpo.make(data).name, { from: 'grpo', data });
}

/** The recipes of the tests by what they show; their modules are bundled into one mesh. */
let made: Readonly<
  Record<
    | 'files'
    | 'judged'
    | 'stored'
    | 'modelled'
    | 'programs'
    | 'headless'
    | 'foreign'
    | 'changed'
    | 'world'
    | 'images'
    | 'pictures'
    | 'game'
    | 'rated'
    | (typeof FROM_EXAMPLES)[number],
    string
  >
>;
let registry: Registry;
let playing: Playing;
beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const [files, judged, stored] = await grpoModules();
  const written: Record<keyof typeof made, string> = {
    files: files!,
    judged: judged!,
    stored: stored!,
    modelled: await modelledModule('scorer'),
    programs: await programsModule(),
    headless: await modelledModule(START),
    foreign: await modelledModule('other'),
    changed: await changedModule(),
    world: await worldModule(),
    images: await (await changedRecipe('dapo', [], 'canvas'))!.write(folder),
    pictures: await picturesModule(),
    game: await gameModule(),
    rated: await ratedModule(),
    sft: await examplesModule('sft'),
    dpo: await examplesModule('dpo'),
    spin: await examplesModule('spin'),
    distil: await examplesModule('distil'),
    'reward-model': await examplesModule('reward-model'),
  };
  const opened = await openRecipes(Object.values(written));
  registry = opened.registry;
  made = Object.fromEntries(
    Object.keys(written).map((key, i) => [key, opened.named[i]!.name]),
  ) as typeof made;
  playing = await openPlaying(
    [START, registry.find('ttrl').startPolicy, 'canvas'],
    { recipes: opened.modules.map((module) => module.file), vars: { REWARD_SECRET: SECRET } },
    registry,
    httpService({ secret: SECRET, now: Date.now }),
  );
  await storeTasks(playing.gateway, opened.modules, () => {});
});
afterAll(async () => {
  await playing.stop();
  service.close();
  rmSync(root, { recursive: true, force: true });
});

test('grpo trains an imported checkpoint on a file with a reward module, by its chat template', async () => {
  await playing.importPolicy('chat', checkpoint());
  await playing.importPolicy('judged', checkpoint());
  const order = {
    recipe: made.files,
    seed: 0,
    rounds: 2,
    freeze: [],
    tasks: 4,
    groupSize: 8,
    policy: 'chat',
    engine: 'kernels' as const,
  };
  const { mesh, alone, before } = await playing.play(order);
  expect(mesh).toEqual(alone);
  expect(mesh['model.safetensors']).not.toBe(before['model.safetensors']);
  // A version keeps what says how it reads and writes.
  expect(mesh['tokenizer_config.json']).toBe(before['tokenizer_config.json']);
  expect(mesh['tokenizer_config.json']).toBeDefined();
  // What the curriculum knows is carried from version to version.
  expect(mesh['memory.json']).toBeDefined();

  const run = runIdOf(runOf(registry, order).settings);
  const told = (await playing.gateway.listRounds(run)).map(({ id }) => playing.gateway.getRound(id));
  const warnings = (await Promise.all(told)).flatMap(({ report }) => report?.warnings ?? []);
  expect(warnings.join()).toMatch(
    /questions? w(as|ere) left out because .* positions: up to \d+ tokens \(“Say xxx/,
  );

  // Another policy of the mesh judges by a rubric, with a tokenizer and a template of its own.
  const ordered = {
    ...order,
    recipe: made.judged,
    policy: 'judged',
    rounds: 1,
    tasks: 3,
    groupSize: 6,
  };
  await expect(playing.play(ordered)).rejects.toThrow(
    'The policy words@0, which plays the role judge-style, is not there.',
  );
  await playing.importPolicy('words', await readPolicyFolder('models/words'));
  const played = await playing.play(ordered);
  expect(played.mesh).toEqual(played.alone);
  expect(played.mesh['model.safetensors']).not.toBe(played.before['model.safetensors']);
  const [round] = await playing.gateway.listRounds(runIdOf(runOf(registry, ordered).settings));
  const samples: ReadableSample[] = [];
  const judgments: ReadableSample[] = [];
  for await (const group of playing.gateway.contentsOf(round!.id)) {
    samples.push(...group.samples!);
    judgments.push(...group.judgments!);
  }
  expect(samples).toHaveLength(18);
  expect(judgments.map(({ of }) => of).sort()).toEqual(samples.map(({ id }) => id).sort());
  for (const { role, policy, outcome, of, text } of judgments) {
    expect({ role, policy }).toEqual({
      role: 'judge-style',
      policy: { name: 'words', version: 0, engine: 'kernels' },
    });
    const { rewards, missing } = samples.find(({ id }) => id === of)!;
    const said = /<answer>(\d+)<\/answer>/.exec(text!.completion)?.[1];
    if (outcome === 'ok') expect(rewards.style).toBe(Number(said) / 1000);
    else
      expect([rewards.style, rewards.reward, missing]).toEqual([null, null, { style: expect.any(String) }]);
  }
  expect(judgments.filter(({ outcome }) => outcome === 'ok').length).toBeGreaterThan(3);
});

test('grpo trains on a file whose tasks lie in the object store, and an audit reads them again', async () => {
  await playing.importPolicy('stored', checkpoint());
  const order = {
    recipe: made.stored,
    seed: 0,
    rounds: 2,
    freeze: [],
    tasks: 4,
    groupSize: 4,
    policy: 'stored',
    engine: 'kernels' as const,
  };
  expect(registry.find(made.stored).stored!.length).toBeGreaterThan(5);
  const { mesh, alone, before } = await playing.play(order);
  expect(mesh).toEqual(alone);
  expect(mesh['model.safetensors']).not.toBe(before['model.safetensors']);
  const run = runIdOf(runOf(registry, order).settings);
  const [round] = await playing.gateway.listRounds(run);
  const audited = await auditMesh(playing.gateway, {
    recipes: registry,
    round: round!.id,
    fraction: 0,
    meshKey: undefined,
    seed: 'a',
  });
  expect(audited.findings).toEqual([]);
  // They go with the run, the only one on this file.
  const stored = [...new Set(registry.find(made.stored).stored)];
  expect(await playing.gateway.missingTasks(stored)).toEqual([]);
  await playing.gateway.deleteRun(run);
  expect(await playing.gateway.missingTasks(stored)).toEqual(stored);
});

test('programs are judged in isolates, in the audit and in one process alike', async () => {
  await playing.importPolicy('programs', await readPolicyFolder(`models/${START}`));
  const order = {
    recipe: made.programs,
    seed: 0,
    rounds: 2,
    freeze: [],
    tasks: 4,
    groupSize: 4,
    policy: 'programs',
    engine: 'kernels' as const,
  };
  const { mesh, alone, before } = await playing.play(order);
  expect(mesh).toEqual(alone);
  expect(mesh['model.safetensors']).not.toBe(before['model.safetensors']);
  const paid = new Set<number>();
  for (const { id } of await playing.gateway.listRounds(runIdOf(runOf(registry, order).settings)))
    for await (const { task, samples } of playing.gateway.contentsOf(id))
      for (const { rewards } of samples!) {
        paid.add(rewards.reward!);
        if (rewards.reward === 1) expect(task).toContain(INERT);
      }
  expect([...paid].sort()).toEqual([0, 1]);
});

test('a reward model pays beside the checker, audited in full; one without a head or with other tokens is refused', async () => {
  const start = await readPolicyFolder(`models/${START}`);
  await playing.importPolicy('paid', start);
  const order = {
    recipe: made.modelled,
    seed: 0,
    rounds: 3,
    freeze: [],
    tasks: 3,
    groupSize: 4,
    policy: 'paid',
    engine: 'kernels' as const,
  };
  await expect(playing.playInMesh(order)).rejects.toThrow(
    'The policy scorer@0, which plays the role model-scorer, is not there.',
  );
  const files = await scorer();
  await playing.importPolicy('scorer', files);
  const { mesh, alone, before } = await playing.play(order);
  expect(mesh).toEqual(alone);
  expect(mesh['model.safetensors']).not.toBe(before['model.safetensors']);
  const [round] = await playing.gateway.listRounds(runIdOf(runOf(registry, order).settings));
  const policy = await openVersion(nodeEngines, { name: 'scorer', version: 0, engine: 'kernels' }, files);
  for await (const { samples } of playing.gateway.contentsOf(round!.id))
    for (const { rewards, prompt, ids } of samples!) {
      const [measured] = await measure(policy, [{ prompt, ids }]);
      const paid = softmax(measured!.classes![0]!)[1]!;
      expect(rewards.scorer).toBe(paid);
      expect(rewards.reward).toBe(rewards.checker! + 2 * paid);
    }
  await policy.dispose();
  await expect(playing.playInMesh({ ...order, recipe: made.headless })).rejects.toThrow(
    `${START}@0 has no head, and its classes are asked for.`,
  );
  await playing.importPolicy('other', await readPolicyFolder('models/words'));
  await expect(playing.playInMesh({ ...order, recipe: made.foreign })).rejects.toThrow(
    'The tokenizer of other@0 is not that of the policy that is trained.',
  );
});

/** The audit of the last round of an order, in full. */
async function audited(order: RunOrder) {
  const [round] = await playing.gateway.listRounds(runIdOf(runOf(registry, order).settings));
  return auditMesh(playing.gateway, {
    recipes: registry,
    round: round!.id,
    fraction: 1,
    meshKey: undefined,
    seed: 'a',
  });
}

test('grpo trains on the image files of a user, sampled by isolates that read them by their hashes', async () => {
  const order = { seed: 0, rounds: 2, freeze: [], engine: 'kernels' as const, tasks: 4, groupSize: 6 };
  await playing.importPolicy('chat-blind', checkpoint());
  await expect(playing.playInMesh({ ...order, recipe: made.pictures, policy: 'chat-blind' })).rejects.toThrow(
    'The policy chat-blind does not see, and grpo on pictures.jsonl shows images.',
  );
  await playing.importPolicy('eyes', await readPolicyFolder('models/canvas'));
  const shown = { ...order, recipe: made.pictures, policy: 'eyes' };
  const { mesh, alone, before } = await playing.play(shown);
  expect(mesh).toEqual(alone);
  expect(mesh['model.safetensors']).not.toBe(before['model.safetensors']);
  expect((await audited(shown)).findings).toEqual([]);
  // A receipt has the images that its rounds were trained on.
  const chain = await VersionChain.open(playing.gateway, 'eyes');
  const code = { recipes: {}, release: '0'.repeat(64) };
  const receipt = await gatherReceipt(playing.gateway, chain, { from: 0, to: 2, madeBy: 'test', code });
  const pixmaps = [...receipt.objects].filter(([key]) => key.startsWith('tasks/'));
  expect(pixmaps.length).toBeGreaterThan(1);
  for (const [, bytes] of pixmaps) expect(readPixmap(bytes)).toMatchObject({ width: expect.any(Number) });
});

test('a world that draws pictures is played in the mesh: who draws them stores them', async () => {
  const order = { seed: 0, rounds: 1, freeze: [], engine: 'kernels' as const, tasks: 3, groupSize: 6 };
  const drawn = { ...order, recipe: made.images, variant: 'grpo' };
  const { mesh, alone, before } = await playing.play(drawn);
  expect(mesh).toEqual(alone);
  expect(mesh['model.safetensors']).not.toBe(before['model.safetensors']);
  expect((await audited(drawn)).findings).toEqual([]);
  const stored = new Set(await playing.objects('tasks/'));
  for (const { id } of await playing.gateway.listRounds(runIdOf(runOf(registry, drawn).settings)))
    for await (const { samples } of playing.gateway.contentsOf(id))
      for (const image of imagesShown(samples!.map(({ prompt }) => prompt)))
        expect(stored).toContain(`tasks/${image}`);
  // Readers see pictures, and no tasks with their answers.
  const see = (sha256: string) => fetch(`${playing.url}/api/images/${sha256}`);
  const picture = registry.find(made.pictures).stored![0]!;
  expect(readPixmap(new Uint8Array(await (await see(picture)).arrayBuffer()))).not.toBeNull();
  expect((await see(registry.find(made.stored).stored![0]!)).status).toBe(404);
});

test('a shipped recipe is played with settings of the method', async () => {
  const order = { seed: 0, rounds: 1, freeze: [], tasks: 3, groupSize: 4, engine: 'kernels' as const };
  const { mesh, alone, before } = await playing.play({ ...order, recipe: made.changed });
  expect(mesh).toEqual(alone);
  expect(mesh['model.safetensors']).not.toBe(before['model.safetensors']);
  const plain = await playing.playInMesh({ ...order, recipe: 'ttrl' });
  expect(plain['model.safetensors']).not.toBe(mesh['model.safetensors']);
});

test.each(FROM_EXAMPLES)('%s learns from a file, in the mesh as in one process', async (recipe) => {
  const policy = `${recipe}-trained`;
  await playing.importPolicy(policy, await readPolicyFolder(`models/${START}`));
  const order = {
    recipe: made[recipe],
    seed: 0,
    rounds: 2,
    freeze: [],
    tasks: 6,
    policy,
    engine: 'kernels' as const,
  };
  // A teacher has the same tokens; this one is of another width and has more positions.
  if (recipe === 'distil') {
    await playing.importPolicy('taught', await readPolicyFolder('models/arithmetic-reading'));
    await playing.importPolicy('strange', await readPolicyFolder('models/words'));
    await expect(playing.play({ ...order, policy: 'strange' })).rejects.toThrow(
      'The tokenizer of taught@0 is not that of the policy that is trained.',
    );
  }
  const { mesh, alone, before } = await playing.play(order);
  expect(mesh).toEqual(alone);
  expect(mesh['model.safetensors']).not.toBe(before['model.safetensors']);
});

test('a recipe plays in a world of somebody’s own, by an imported checkpoint', async () => {
  await playing.importPolicy('guest', anybody);
  const order = {
    recipe: made.world,
    seed: 0,
    rounds: 1,
    freeze: [],
    tasks: 2,
    groupSize: 4,
    policy: 'guest',
  };
  const { mesh, alone, before } = await playing.play({ ...order, engine: 'kernels' });
  expect(mesh).toEqual(alone);
  expect(mesh['model.safetensors']).not.toBe(before['model.safetensors']);
});

test('two seats play a game of somebody’s own, and the audit finds every turn', async () => {
  await playing.importPolicy('players', anybody);
  const order = {
    recipe: made.game,
    seed: 0,
    rounds: 2,
    freeze: [],
    tasks: 2,
    groupSize: 4,
    policy: 'players',
    engine: 'kernels' as const,
  };
  const { mesh, alone, before } = await playing.play(order);
  expect(mesh).toEqual(alone);
  expect(mesh['model.safetensors']).not.toBe(before['model.safetensors']);
  // The baselines of the seats are carried from version to version.
  expect(mesh['memory.json']).toBeDefined();
  const [round] = await playing.gateway.listRounds(runIdOf(runOf(registry, order).settings));
  for await (const { samples } of playing.gateway.contentsOf(round!.id))
    for (const { role, episode, text } of samples!) {
      expect(['opener', 'replier']).toContain(role);
      expect(episode).toBeLessThan(4);
      expect(text!.prompt).toMatch(/\d-3/);
    }
});

test('a service is asked once about a group, and its answers are taken from the record', async () => {
  await playing.importPolicy('rated', await readPolicyFolder(`models/${START}`));
  const order = {
    recipe: made.rated,
    seed: 0,
    rounds: 1,
    freeze: [],
    tasks: 4,
    groupSize: 4,
    policy: 'rated',
    engine: 'kernels' as const,
  };
  const { mesh, alone, before } = await playing.play(order);
  expect(mesh).toEqual(alone);
  expect(mesh['model.safetensors']).not.toBe(before['model.safetensors']);
  // Once by the mesh, whatever the audit reads again, and once by the one process.
  expect([...asked.values()]).toEqual([2, 2, 2, 2]);
});
