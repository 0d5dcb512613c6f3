// The passes of Adam7: the start of each, and the distance between its pixels. @see PNG (third edition), section 8.1
const PASSES = [
  { left: 0, top: 0, across: 8, down: 8 },
  { left: 4, top: 0, across: 8, down: 8 },
  { left: 0, top: 4, across: 4, down: 8 },
  { left: 2, top: 0, across: 4, down: 4 },
  { left: 0, top: 2, across: 2, down: 4 },
  { left: 1, top: 0, across: 2, down: 2 },
  { left: 0, top: 1, across: 1, down: 2 },
] as const

const PIECE_BYTES = 64 * 1024
/** Filter of a row: each byte is the difference to the byte above. */
const FILTER_UP = 2

/** The shape of a PNG's pixels. `bitsPerPixel` counts all channels. */
export interface PngShape {
  width: number
  height: number
  bitsPerPixel: number
}

/** Pixels of `pixelBytes` each, row by row. A pixel of less than 8 bits occupies one byte. */
interface Canvas {
  width: number
  height: number
  pixelBytes: number
  pixels: Buffer
}

/**
 * Converts the existing part of an interlaced PNG into the rows of one that is not interlaced, each with its filter.
 * A missing pixel gets the colour of the nearest one to its left and above, as in a browser; zeros where the first
 * pass is missing. All pixels are held in memory.
 *
 * @param inflated the passes; the last ones may be missing
 * @returns undefined when the first row is missing
 */
export async function deinterlaced(
  inflated: AsyncIterable<Buffer>,
  shape: PngShape,
): Promise<Iterable<Buffer> | undefined> {
  const { width, height, bitsPerPixel } = shape
  const pixelBytes = Math.ceil(bitsPerPixel / 8)
  const canvas = { width, height, pixelBytes, pixels: Buffer.alloc(width * height * pixelBytes) }
  const passes = drawPasses(canvas, shape)
  let wanted = passes.next()
  let rows = 0
  let filled = 0
  // In small pieces, so that the process can do other work between them.
  for await (const piece of inflated) {
    for (let at = 0; at < piece.length && !wanted.done; ) {
      const copied = piece.copy(wanted.value, filled, at)
      at += copied
      filled += copied
      if (filled < wanted.value.length) continue
      wanted = passes.next()
      rows += 1
      filled = 0
    }
    if (wanted.done) break
  }
  return rows > 0 ? plainRows(canvas, shape) : undefined
}

/** Draws one row after the other. Each time it yields the buffer for the next row of the file. */
function* drawPasses(canvas: Canvas, { width, height, bitsPerPixel }: PngShape): Generator<Buffer, void> {
  for (const { left, top, across, down } of PASSES) {
    const pixelsOfRow = Math.ceil((width - left) / across)
    if (pixelsOfRow <= 0 || top >= height) continue
    const rowBytes = 1 + Math.ceil((pixelsOfRow * bitsPerPixel) / 8)
    let [row, above] = [Buffer.alloc(rowBytes), Buffer.alloc(rowBytes)]
    // Until later passes arrive, a pixel fills the area up to the next pixel of this pass or of earlier ones.
    const block = { width: left || across, height: top || down }
    for (let y = top; y < height; y += down) {
      yield row
      unfilter(row, above, canvas.pixelBytes)
      const pixels = bitsPerPixel < 8 ? unpacked(row, pixelsOfRow, bitsPerPixel) : row.subarray(1)
      drawRow(canvas, pixels, { y, left, across, block })
      ;[row, above] = [above, row]
    }
  }
}

function drawRow(
  { width, height, pixelBytes, pixels }: Canvas,
  row: Buffer,
  {
    y,
    left,
    across,
    block,
  }: { y: number; left: number; across: number; block: { width: number; height: number } },
): void {
  const start = y * width * pixelBytes
  const end = start + width * pixelBytes
  const step = across * pixelBytes
  let from = 0
  for (let at = start + left * pixelBytes; at < end; at += step, from += pixelBytes) {
    const blockEnd = Math.min(end, at + block.width * pixelBytes)
    for (let to = at; to < blockEnd; to += pixelBytes)
      for (let byte = 0; byte < pixelBytes; byte += 1) pixels[to + byte] = row[from + byte] as number
  }
  // The rows of a block are equal until now, so the whole row may be repeated.
  const last = Math.min(height, y + block.height)
  for (let below = y + 1; below < last; below += 1) pixels.copyWithin(below * width * pixelBytes, start, end)
}

/** @see PNG (third edition), section 9.2 */
function unfilter(row: Buffer, above: Buffer, pixelBytes: number): void {
  const filter = row[0]
  if (filter === 0) return
  for (let at = 1; at < row.length; at += 1) {
    const left = at > pixelBytes ? (row[at - pixelBytes] as number) : 0
    const up = above[at] as number
    const corner = at > pixelBytes ? (above[at - pixelBytes] as number) : 0
    row[at] = (row[at] as number) + predicted(filter, left, up, corner)
  }
}

function predicted(filter: number | undefined, left: number, up: number, corner: number): number {
  if (filter === 1) return left
  if (filter === FILTER_UP) return up
  if (filter === 3) return (left + up) >> 1
  if (filter !== 4) return 0
  const estimate = left + up - corner
  const [toLeft, toUp, toCorner] = [
    Math.abs(estimate - left),
    Math.abs(estimate - up),
    Math.abs(estimate - corner),
  ]
  if (toLeft <= toUp && toLeft <= toCorner) return left
  return toUp <= toCorner ? up : corner
}

/** Unpacks pixels of less than 8 bits into one byte each. @param row with its filter */
function unpacked(row: Buffer, count: number, bits: number): Buffer {
  const pixels = Buffer.alloc(count)
  for (let i = 0; i < count; i += 1) {
    const shift = 8 - bits - ((i * bits) & 7)
    pixels[i] = ((row[1 + ((i * bits) >> 3)] as number) >> shift) & ((1 << bits) - 1)
  }
  return pixels
}

/** The canvas as rows with their filters, in pieces of about 64 KB. */
function* plainRows(
  { pixels, pixelBytes }: Canvas,
  { width, height, bitsPerPixel }: PngShape,
): Generator<Buffer> {
  const rowBytes = 1 + Math.ceil((width * bitsPerPixel) / 8)
  const rowsOfPiece = Math.max(1, Math.floor(PIECE_BYTES / rowBytes))
  const drawnBytes = width * pixelBytes
  for (let first = 0; first < height; first += rowsOfPiece) {
    const rows = Math.min(rowsOfPiece, height - first)
    const piece = Buffer.alloc(rows * rowBytes)
    for (let i = 0; i < rows; i += 1) {
      const from = (first + i) * drawnBytes
      const to = i * rowBytes
      // Most rows repeat the one above, and compress to almost nothing.
      const isRepeated =
        from > 0 && pixels.compare(pixels, from - drawnBytes, from, from, from + drawnBytes) === 0
      if (isRepeated) piece[to] = FILTER_UP
      else if (bitsPerPixel >= 8) pixels.copy(piece, to + 1, from, from + drawnBytes)
      else pack(pixels.subarray(from, from + drawnBytes), piece.subarray(to + 1), bitsPerPixel)
    }
    yield piece
  }
}

function pack(pixels: Buffer, into: Buffer, bits: number): void {
  for (const [i, pixel] of pixels.entries()) {
    const at = (i * bits) >> 3
    into[at] = (into[at] as number) | (pixel << (8 - bits - ((i * bits) & 7)))
  }
}
