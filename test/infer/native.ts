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
/** The driver by which tests of WebGPU compute: the one that the environment names, or Chromium's, which is software. */
export const VULKAN_DRIVER = process.env.VK_ICD_FILENAMES ?? '/usr/lib/chromium/vk_swiftshader_icd.json';
