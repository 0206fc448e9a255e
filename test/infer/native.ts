/** Whether onnxruntime-node is installed here, which is no dependency of the project; `NODE_PATH` may name the folder that holds it. */
import { createRequire } from 'node:module';

function found(): boolean {
  try {
    createRequire(import.meta.url).resolve('onnxruntime-node');
    return true;
  } catch {
    return false;
  }
}

export const nativeInstalled = found();
export const NATIVE_NEEDED = nativeInstalled ? '' : ' (needs the package onnxruntime-node)';
