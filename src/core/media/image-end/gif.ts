import { take, takeByte, type Walk } from './walk.ts'

const IMAGE = 0x2c
const EXTENSION = 0x21

/** Walks to the trailer, the only mark without blocks after it. @see GIF89a, appendix B */
export function* gifEnd(): Walk {
  const screen = yield* take(13)
  yield { skip: paletteBytes(screen[10]) }
  for (;;) {
    const mark = yield* takeByte()
    if (mark === IMAGE) {
      const image = yield* take(9)
      // The palette, and the byte with the width of the codes.
      yield { skip: paletteBytes(image[8]) + 1 }
    } else if (mark === EXTENSION) yield { skip: 1 }
    else return
    // Blocks follow, each with its length. A block of length 0 is the last.
    for (let length = yield* takeByte(); length > 0; length = yield* takeByte())
      yield { skip: length, ofPixels: mark === IMAGE }
  }
}

function paletteBytes(flags = 0): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0
}
