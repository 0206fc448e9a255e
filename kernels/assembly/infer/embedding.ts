/** Looks embeddings up in a table that is laid out in panels, as the output projection reads it. */
import { bytes } from '../shared/vector';

/** x [rows, d] = rows `ids` of a float32 table in panels [vocab / 8][d][8]. */
export function embed(rows: i32, d: i32, panels: usize, ids: usize, x: usize): void {
  for (let r = 0; r < rows; r++, x += bytes(d)) {
    const id = load<i32>(ids + bytes(r));
    let from = panels + bytes((id >> 3) * d * 8 + (id & 7));
    for (let j: usize = 0; j < bytes(d); j += 4, from += 32) store<f32>(x + j, load<f32>(from));
  }
}

/** As `embed`, from a table of 8-bit values in panels [vocab / 8][d / 4][8][4], with scales f32 [vocab]. */
export function embedInt8(rows: i32, d: i32, panels: usize, scales: usize, ids: usize, x: usize): void {
  for (let r = 0; r < rows; r++, x += bytes(d)) {
    const id = load<i32>(ids + bytes(r));
    const scale = f32x4.splat(load<f32>(scales + bytes(id)));
    let from = panels + <usize>((id >> 3) * d * 8 + (id & 7) * 4);
    for (let j: usize = 0; j < bytes(d); j += 16, from += 32) {
      const words = i32x4.extend_low_i16x8_s(i16x8.extend_low_i8x16_s(v128.load32_splat(from)));
      v128.store(x + j, f32x4.mul(f32x4.convert_i32x4_s(words), scale));
    }
  }
}
