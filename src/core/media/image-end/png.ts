import { take, type Walk } from './walk.ts'

const SIGNATURE_BYTES = 8
const CRC_BYTES = 4

/** Walks to the end of the chunk IEND. @see PNG (third edition), section 5.3 */
export function* pngEnd(): Walk {
  yield { skip: SIGNATURE_BYTES }
  for (;;) {
    const head = yield* take(8)
    const type = String.fromCharCode(...head.subarray(4))
    if (!/^[A-Za-z]{4}$/.test(type)) return
    const length = new DataView(head.buffer, head.byteOffset).getUint32(0)
    yield { skip: length, ofPixels: type === 'IDAT' }
    yield { skip: CRC_BYTES }
    if (type === 'IEND') return
  }
}
