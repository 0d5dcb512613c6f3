import { take, takeByte, type Walk } from './walk.ts'

const END = 0xd9
const SCAN = 0xda

/** Walks to the marker EOI. Data after it, such as a gain map, belongs to another image. @see ITU T.81, annex B */
export function* jpegEnd(): Walk {
  yield { skip: 2 }
  for (let isInScan = false; ; ) {
    // Within a scan, any number of other bytes precede a marker.
    if (isInScan) yield { find: 0xff, ofPixels: true }
    else if ((yield* takeByte()) !== 0xff) return
    let code = 0xff
    while (code === 0xff) code = yield* takeByte()
    if (code === END) return
    // Within a scan, a 0 follows each 0xff that is not a marker. Restart markers and TEM have no length.
    if (code === 0 || code === 1 || (code >= 0xd0 && code <= 0xd7)) continue
    const [high = 0, low = 0] = yield* take(2)
    yield { skip: Math.max(0, high * 256 + low - 2) }
    isInScan = code === SCAN
  }
}
