/** Log-probability and entropy over a block of logits [n, v], and the logits' gradient in place. */
import { bytes, exp4, horizontalMax, horizontalSum, madd, share } from '../shared/vector';

/** With z = logits * inverseTemperature: logSum = log sum exp z, logprob = z[id] - logSum, entropy in nats. */
export function logProbRows(
  n: i32,
  v: i32,
  logits: usize,
  ids: usize,
  inverseTemperature: f32,
  logprob: usize,
  logSum: usize,
  entropy: usize,
  part: i32,
  parts: i32,
): void {
  const scale = f32x4.splat(inverseTemperature);
  const line = bytes(v);
  const whole = line & ~15;
  const end = share(n, 1, part + 1, parts);
  for (let r = share(n, 1, part, parts); r < end; r++) {
    const row = logits + <usize>r * line;
    let j: usize = 0;
    let top4 = f32x4.splat(-3e38);
    for (; j < whole; j += 16) top4 = f32x4.pmax(top4, v128.load(row + j));
    let top = horizontalMax(top4);
    for (; j < line; j += 4) top = max(top, load<f32>(row + j));
    top *= inverseTemperature;
    const shift = f32x4.splat(top);
    let sum4 = f32x4.splat(0);
    let weighted4 = sum4;
    for (j = 0; j < whole; j += 16) {
      const z = f32x4.sub(f32x4.mul(v128.load(row + j), scale), shift);
      const e = exp4(z);
      sum4 = f32x4.add(sum4, e);
      weighted4 = madd(e, z, weighted4);
    }
    let sum = horizontalSum(sum4);
    let weighted = horizontalSum(weighted4);
    for (; j < line; j += 4) {
      const z = load<f32>(row + j) * inverseTemperature - top;
      const e = f32x4.extract_lane(exp4(f32x4.splat(z)), 0);
      sum += e;
      weighted += e * z;
    }
    const logOfSum = <f32>NativeMath.log(<f64>sum);
    const at = bytes(r);
    store<f32>(logSum + at, top + logOfSum);
    const own = load<f32>(row + bytes(load<i32>(ids + at))) * inverseTemperature;
    store<f32>(logprob + at, own - top - logOfSum);
    store<f32>(entropy + at, logOfSum - weighted / sum);
  }
}

/** Turns logits into d loss / d logits, in place, given the upstream gradients of the log-probabilities and of the entropies. */
export function logitsGrad(
  n: i32,
  v: i32,
  logits: usize,
  ids: usize,
  inverseTemperature: f32,
  logSum: usize,
  entropy: usize,
  dlogprob: usize,
  dentropy: usize,
  part: i32,
  parts: i32,
): void {
  const scale = f32x4.splat(inverseTemperature);
  const line = bytes(v);
  const whole = line & ~15;
  const end = share(n, 1, part + 1, parts);
  for (let r = share(n, 1, part, parts); r < end; r++) {
    const row = logits + <usize>r * line;
    const at = bytes(r);
    const dl = load<f32>(dlogprob + at) * inverseTemperature;
    const de = load<f32>(dentropy + at) * inverseTemperature;
    // dz = (1[id] - p) * dl - p * (log p + entropy) * de
    const shift = f32x4.splat(load<f32>(logSum + at));
    const constant = f32x4.splat(-dl - de * load<f32>(entropy + at));
    const slope = f32x4.splat(-de);
    let j: usize = 0;
    for (; j < whole; j += 16) {
      const logp = f32x4.sub(f32x4.mul(v128.load(row + j), scale), shift);
      v128.store(row + j, f32x4.mul(exp4(logp), madd(slope, logp, constant)));
    }
    for (; j < line; j += 4) {
      const logp = f32x4.sub(f32x4.mul(v128.load_splat<f32>(row + j), scale), shift);
      store<f32>(row + j, f32x4.extract_lane(f32x4.mul(exp4(logp), madd(slope, logp, constant)), 0));
    }
    const own = row + bytes(load<i32>(ids + at));
    store<f32>(own, load<f32>(own) + dl);
  }
}
