/** Checkpoints for tests: the stored reference ones, and random ones of any config. */
import { readFileSync } from 'node:fs';
import { Random } from '../../core/random.ts';
import { tensorShapes } from '../../model/checkpoint.ts';
import { type ModelConfig, parseConfig } from '../../model/config.ts';
import { readSafetensors, type Tensors } from '../../model/safetensors.ts';

export const ORACLES = ['llama', 'qwen2', 'qwen3'] as const;

/** What another implementation computed in float64 for a stored checkpoint. */
export interface Expected {
  readonly input_ids: number[][];
  readonly token_logprobs: number[][];
  readonly entropy: number[][];
  readonly last_logits: number[][];
  readonly greedy_next: number[][];
}

export function oracle(name: string): { config: ModelConfig; tensors: Tensors; expected: Expected } {
  const folder = `test/oracle/models/${name}`;
  return {
    config: parseConfig(JSON.parse(readFileSync(`${folder}/config.json`, 'utf8'))),
    tensors: readSafetensors(readFileSync(`${folder}/model.safetensors`)),
    expected: JSON.parse(readFileSync(`${folder}/expected.json`, 'utf8')),
  };
}

/** The config.json of a Llama model of about 0.87 M parameters with the given changes, in Hugging Face's names. */
export const smallConfigJson = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  model_type: 'llama',
  vocab_size: 64,
  hidden_size: 128,
  intermediate_size: 384,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  num_key_value_heads: 4,
  max_position_embeddings: 128,
  ...changes,
});

export const smallConfig = (changes: Record<string, unknown> = {}): ModelConfig =>
  parseConfig(smallConfigJson(changes));

/** Random weights: matrices uniform with unit-variance outputs, so that distributions are neither flat nor certain; gains near 1. */
export function randomTensors(config: ModelConfig, seed = 'weights'): Tensors {
  const tensors: Tensors = new Map();
  for (const [name, shape] of tensorShapes(config)) {
    const random = new Random(`${seed}/${name}`);
    const bound = shape.length === 1 ? 0.1 : Math.sqrt(3 / shape[1]!);
    const middle = name.endsWith('norm.weight') ? 1 - config.gainOffset : 0;
    const data = Float32Array.from(
      { length: shape.reduce((a, b) => a * b, 1) },
      () => middle + (2 * random.float() - 1) * bound,
    );
    tensors.set(name, { shape: [...shape], data });
  }
  return tensors;
}
