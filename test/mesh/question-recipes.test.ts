/** Recipes with a method of their own on a file of questions, with checkpoints from outside: the mesh and one process come to the same bytes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportCheckpoint } from '../../cli/policy/export-checkpoint.ts';
import { readImport } from '../../cli/policy/import-checkpoint.ts';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import { sha256Hex } from '../../core/random.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import { byteTokenizer, QWEN_TEMPLATE, SMOLLM_TEMPLATE } from '../core/renderer/checkpoints.ts';
import { randomTensors, smallConfig } from '../model/checkpoints.ts';
import { NIGHT } from '../night.ts';
import { openPlaying, type Playing } from './playing.ts';

type Imported = Awaited<ReturnType<typeof readImport>>;

const root = mkdtempSync(join(tmpdir(), 'rollmesh-question-recipes-'));
const file = join(root, 'say.jsonl');
// Random weights say nothing that can be read: a letter from the first half of the alphabet, anywhere, is right.
const rows = Array.from({ length: 24 }, (_, i) => ({
  question: `Say ${i}`,
  answer: '(?s).*[a-m].*',
  solution: 'Say a.\nSay b.',
  documents: [`Number ${i} is a letter.`],
}));
writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

/** A checkpoint with random weights as a folder of the Hub has one. */
function checkpointFolder(name: string, model: string, template: string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  const config = smallConfig({
    model_type: model,
    vocab_size: 262,
    hidden_size: 64,
    intermediate_size: 128,
    num_hidden_layers: 2,
    max_position_embeddings: 512,
  });
  const json = (value: unknown) => JSON.stringify(value);
  const tokenizer = byteTokenizer(['<|endoftext|>', '<|im_start|>', '<|im_end|>']);
  // Random weights seldom write one certain token: any of 64 characters ends an answer.
  const ends = Array.from({ length: 64 }, (_, id) => id + 32);
  writeFileSync(join(folder, 'config.json'), json({ ...toHfConfig(config), eos_token_id: ends }));
  writeFileSync(join(folder, 'tokenizer.json'), json(tokenizer));
  writeFileSync(
    join(folder, 'tokenizer_config.json'),
    json({ eos_token: '<|im_end|>', chat_template: template }),
  );
  writeFileSync(join(folder, 'model.safetensors'), writeSafetensors(randomTensors(config)));
  return folder;
}

async function bytesOf({ 'model.safetensors': weights }: Imported['files']): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of weights.read()) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
}

/** Recipes for the checkpoint, two with roles of their own, with a template in the shape of its family, and the weights that they train. */
const SHAPES = [
  {
    recipe: 'grpo',
    model: 'llama',
    template: SMOLLM_TEMPLATE,
    trained: 'model.safetensors',
    engine: 'kernels',
  },
  {
    recipe: 'tango',
    model: 'llama',
    template: SMOLLM_TEMPLATE,
    trained: 'verifier.safetensors',
    engine: 'kernels',
  },
  { recipe: 'ttrl', model: 'qwen2', template: QWEN_TEMPLATE, trained: 'model.safetensors', engine: 'onnx' },
] as const;
/** The second samples with what the first has trained. */
const ROUNDS = 2;

/** Recipes whose policy writes questions, plays against itself or teaches itself. */
const ASKING = ['trio', ...(NIGHT ? ['mae'] : []), 'r-zero', 'sppo', 'sdpo'];
/** A recipe of each further protocol: a critic, grades, debates, talks with users; questions in other words, verdicts on two answers, searches, trees. */
const FURTHER = [
  ...['trace', 'self-rewarding', 'maporl', 'rlver'],
  ...(NIGHT ? ['co-reward', 'self-taught-evaluators', 'reseek', 'rest-mcts', 'alphallm', 'cpl'] : []),
];
const isFurther = (recipe: string): boolean => FURTHER.includes(recipe);
/** Random weights write no verdict that can be read, and then these train nothing: what is compared is what was sampled and audited. */
const UNREAD: readonly string[] = ['self-taught-evaluators', 'self-rewarding'];
/** The second round reads what the first one left: sppo's curriculum, sdpo's teacher, the weights of both who debate. */
const TWICE: readonly string[] = ['sppo', 'sdpo', 'maporl', 'reseek', 'rlver'];
/** What a round of them changes besides, or in place of, the policy's own weights. */
const CHANGED: Readonly<Record<string, `${string}.safetensors`>> = {
  'r-zero': 'challenger.safetensors',
  sdpo: 'teacher.adapter.safetensors',
};

/** The module of a recipe on the file of questions. */
async function questionModule(recipe: string): Promise<string> {
  const length = join(root, 'length.ts');
  writeFileSync(length, 'export default ({ text }: { text: string }) => text.length / 12;');
  const made = await taskRecipe({
    recipe,
    policy: 'chat',
    tasks: [file],
    heldOut: '0.3',
    checker: 'regex',
    extract: ['whole'],
    set: [
      ...['maxNew=12', 'examined=4', 'optimizer.learningRate=1e-3', 'optimizer.warmup=0'],
      ...(recipe === 'sppo' ? ['curriculum.unanimousWeight=0.5'] : []),
      // Its teacher follows weights that adapters change.
      ...(recipe === 'sdpo' ? ['adapter.rank=4', 'adapter.alpha=8'] : []),
    ],
    ...(recipe === 'sppo' ? { reward: `checker=1,${length}=0.1` } : {}),
  });
  return await made!.write(join(root, 'recipes'));
}

/** The names of the made recipes by those that they are made of; their modules are bundled into one mesh. */
let named: ReadonlyMap<string, string>;
let playing: Playing;
beforeAll(async () => {
  const recipes = [...SHAPES.map(({ recipe }) => recipe), ...ASKING, ...FURTHER];
  const written: string[] = [];
  for (const recipe of recipes) written.push(await questionModule(recipe));
  const opened = await openRecipes(written);
  named = new Map(recipes.map((recipe, i) => [recipe, opened.named[i]!.name]));
  playing = await openPlaying([], { recipes: opened.modules.map((module) => module.file) }, opened.registry);
});
afterAll(async () => {
  await playing.stop();
  rmSync(root, { recursive: true, force: true });
});

/** Imports a checkpoint as a policy, as `policy import` does. */
async function imported(policy: string, model: string, template: string): Promise<void> {
  const { files } = await readImport(checkpointFolder(policy, model, template), 'chat', { tokenizer: true });
  await playing.importPolicy(policy, { ...files, 'model.safetensors': await bytesOf(files) });
}

test.each(SHAPES)(
  '$recipe with a template in the shape of $model imports a checkpoint, trains it for two rounds and exports it',
  async ({ recipe, model, template, trained, engine }) => {
    expect(named.get(recipe)).toMatch(new RegExp(`^${recipe}-[0-9a-f]{10}$`));
    const policy = `chat-${recipe}`;
    await imported(policy, model, template);
    const { mesh, alone, before } = await playing.play({
      recipe: named.get(recipe)!,
      seed: 0,
      rounds: ROUNDS,
      freeze: [],
      tasks: 3,
      groupSize: 6,
      policy,
      engine,
    });
    expect(mesh).toEqual(alone);
    expect(mesh[trained]).toBeDefined();
    expect(mesh[trained]).not.toBe(before[trained]);
    expect(mesh['tokenizer_config.json']).toBeDefined();

    const folder = join(root, `${policy}-out`);
    await exportCheckpoint(playing.gateway, { name: policy, version: ROUNDS }, folder, 'F32');
    const { files } = await readImport(folder, 'again', { tokenizer: true });
    const exported = { ...files, 'model.safetensors': await bytesOf(files) } as VersionFiles;
    for (const file of ['model.safetensors', 'tokenizer.json', 'tokenizer_config.json'] as const)
      expect(sha256Hex(exported[file]!), file).toBe(mesh[file]);
  },
);

test.each([...ASKING, ...FURTHER])(
  '%s on questions comes to the same bytes in the mesh and in one process',
  async (recipe) => {
    const policy = `chat-${recipe}`;
    await imported(policy, 'qwen2', QWEN_TEMPLATE);
    const order = {
      recipe: named.get(recipe)!,
      seed: 0,
      rounds: TWICE.includes(recipe) ? 2 : 1,
      freeze: [],
      ...(isFurther(recipe) ? { tasks: 2, groupSize: 2 } : { tasks: 4, groupSize: 4 }),
      policy,
      engine: 'kernels' as const,
    };
    const { mesh, alone, before } = await playing.play(order);
    expect(mesh).toEqual(alone);
    const trained = CHANGED[recipe] ?? 'model.safetensors';
    expect(mesh[trained]).toBeDefined();
    expect(mesh[trained] !== before[trained]).toBe(!UNREAD.includes(recipe));
  },
);
