/** A policy whose feed-forward layers are widened with zeros: it computes the same function with more work, as a larger policy would. */
import type { VersionFiles } from '../../core/schema/policy.ts';
import { parseConfig } from '../../model/config.ts';
import { readSafetensors, type Tensor, writeSafetensors } from '../../model/safetensors.ts';

/** Rows of zeros below, [rows, n] → [width, n]. */
function moreRows({ shape, data }: Tensor, width: number): Tensor {
  const columns = shape[1]!;
  const wide = new Float32Array(width * columns);
  wide.set(data);
  return { shape: [width, columns], data: wide };
}

/** Columns of zeros on the right, [n, columns] → [n, width]. */
function moreColumns({ shape, data }: Tensor, width: number): Tensor {
  const [rows, columns] = shape as [number, number];
  const wide = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++)
    wide.set(data.subarray(row * columns, (row + 1) * columns), row * width);
  return { shape: [rows, width], data: wide };
}

export interface Widened {
  readonly files: VersionFiles;
  readonly parameters: number;
}

/** `width`: units of each feed-forward layer, at least those that the policy has. */
export function widened(files: VersionFiles, width: number): Widened {
  const json = JSON.parse(new TextDecoder().decode(files['config.json'])) as Record<string, unknown>;
  const config = new TextEncoder().encode(JSON.stringify({ ...json, intermediate_size: width }));
  parseConfig({ ...json, intermediate_size: width });
  const tensors = new Map(
    Array.from(readSafetensors(files['model.safetensors']!), ([name, tensor]) => {
      if (/\.mlp\.(gate|up)_proj\.weight$/.test(name)) return [name, moreRows(tensor, width)];
      if (/\.mlp\.down_proj\.weight$/.test(name)) return [name, moreColumns(tensor, width)];
      return [name, tensor];
    }),
  );
  const parameters = [...tensors.values()].reduce((sum, { data }) => sum + data.length, 0);
  return {
    files: { ...files, 'config.json': config, 'model.safetensors': writeSafetensors(tensors) },
    parameters,
  };
}
