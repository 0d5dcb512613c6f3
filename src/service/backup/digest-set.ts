import type { Content } from './checked-bytes.ts'

// 18 bytes of the SHA-256, too many for anyone to find two files that share them, and 6 bytes of the size.
const DIGEST_BYTES = 18
const SLOT_BYTES = DIGEST_BYTES + 6
const FIRST_SLOTS = 1 << 12

/** A set of contents. Digests are random, so a table without pointers takes 32 to 64 bytes for each: 64 MB for a million. */
export interface DigestSet {
  add(content: Content): void
  has(content: Content): boolean
}

export function createDigestSet(): DigestSet {
  let slots = FIRST_SLOTS
  let table = Buffer.alloc(slots * SLOT_BYTES)
  let count = 0

  /** The offset of its slot, or of the free slot where it belongs. */
  function offsetOf(slot: Buffer): number {
    for (let at = slot.readUInt32BE(0) % slots; ; at = (at + 1) % slots) {
      const offset = at * SLOT_BYTES
      const found = table.subarray(offset, offset + SLOT_BYTES)
      if (isFree(found) || found.equals(slot)) return offset
    }
  }

  function grow(): void {
    const former = table
    slots *= 2
    table = Buffer.alloc(slots * SLOT_BYTES)
    for (let offset = 0; offset < former.length; offset += SLOT_BYTES) {
      const slot = former.subarray(offset, offset + SLOT_BYTES)
      if (!isFree(slot)) slot.copy(table, offsetOf(slot))
    }
  }

  return {
    add(content) {
      const slot = slotOf(content)
      const offset = offsetOf(slot)
      if (!isFree(table.subarray(offset, offset + SLOT_BYTES))) return
      slot.copy(table, offset)
      count += 1
      if (count > slots * 0.7) grow()
    },
    has(content) {
      const offset = offsetOf(slotOf(content))
      return !isFree(table.subarray(offset, offset + SLOT_BYTES))
    },
  }
}

function slotOf({ size, sha256 }: Content): Buffer {
  const slot = Buffer.alloc(SLOT_BYTES)
  slot.write(sha256.slice(0, DIGEST_BYTES * 2), 0, 'hex')
  slot.writeUIntBE(size, DIGEST_BYTES, 6)
  return slot
}

/** No digest has this many zeros. */
function isFree(slot: Buffer): boolean {
  return slot.readUIntBE(0, 6) === 0 && slot.readUIntBE(6, 6) === 0
}
