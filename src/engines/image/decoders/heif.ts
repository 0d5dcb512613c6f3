import { createRequire } from 'node:module'
import type { Size } from '../../../core/geometry/box.ts'
import { gainMapOfHeic } from '../gain-map/apple.ts'
import { fitted, SMALL_PIXELS } from '../gain-map/gain-map.ts'
import type { DecodedFile, DecodeOptions, Decoder } from './decoder.ts'
import { heifFacts } from './heif-facts.ts'
import { profileOfPrimaries } from './heif-values.ts'
import { tiffOf } from './tiff.ts'

/** The functions of libheif that are used here. Addresses are numbers. The first argument of most is for the error. */
interface LibHeif {
  /** The memory of this instance. A new array after each growth. */
  HEAPU8: Uint8Array
  _malloc(bytes: number): number
  _heif_context_alloc(): number
  _heif_context_set_maximum_image_size_limit(context: number, side: number): void
  _heif_context_read_from_memory_without_copy(
    err: number,
    context: number,
    at: number,
    bytes: number,
    options: 0,
  ): void
  _heif_context_get_primary_image_handle(err: number, context: number, out: number): void
  _heif_image_handle_get_width(handle: number): number
  _heif_image_handle_get_height(handle: number): number
  _heif_image_handle_has_alpha_channel(handle: number): number
  _heif_image_handle_get_raw_color_profile_size(handle: number): number
  _heif_image_handle_get_raw_color_profile(err: number, handle: number, out: number): void
  _heif_image_handle_get_nclx_color_profile(err: number, handle: number, out: number): void
  _heif_decode_image(
    err: number,
    handle: number,
    out: number,
    colorspace: number,
    chroma: number,
    options: 0,
  ): void
  _heif_image_get_width(image: number, channel: number): number
  _heif_image_get_height(image: number, channel: number): number
  _heif_image_get_plane_readonly(image: number, channel: number, strideOut: number): number
}

// Values of libheif's enumerations.
const RGB = 1
const INTERLEAVED = 10
const CHROMA = { 3: 10, 4: 11 } as const

// A gain map of an iPhone has a quarter of the pixels of the photo, rounded up.
const MAP_REDUCTION = 3

// Three numbers: code, subcode and message.
const ERROR_BYTES = 12

/**
 * HEIC, with libheif as WebAssembly. libheif joins tiles, and applies rotation, mirroring and cropping, so the EXIF
 * orientation must not be applied again. The primary image is decoded, and its gain map if it is requested: no thumbnail or depth map.
 */
export const heif: Decoder = {
  library: 'libheif',
  // Measured with 12 MP: planes of libheif, its output and the TIFF, and those of a gain map.
  bytesPerPixel: 17,

  facts: heifFacts,

  async decode(bytes, { gainMap, ...options }) {
    const { width, height, ...file } = await decodedPrimary(bytes, options)
    const found = gainMap === 'keep' ? gainMapOfHeic(bytes) : undefined
    const mapOptions = { ...options, maxPixels: Math.max(SMALL_PIXELS, (width * height) / MAP_REDUCTION) }
    // A photo is shown without a gain map that is broken.
    const map = found && (await decodedPrimary(found.bytes, mapOptions).catch(() => undefined))
    const known = map && (await fitted({ ...found, bytes: map.bytes }, { width, height }))
    return { ...file, ...(known ? { gainMap: known } : {}) }
  },
}

async function decodedPrimary(
  bytes: Buffer,
  { maxPixels, check }: Pick<DecodeOptions, 'maxPixels' | 'check'>,
): Promise<DecodedFile & Size> {
  const lib = newInstance()
  const err = lib._malloc(ERROR_BYTES)
  const out = lib._malloc(4)
  const number = (at: number) => Buffer.from(lib.HEAPU8.buffer).readUInt32LE(at)
  const attempt = (call: () => void) => {
    call()
    if (number(err) !== 0) throw new Error(`libheif: ${textAt(lib, number(err + 8))}`)
  }
  const context = lib._heif_context_alloc()
  // Tiles may be larger than the image they belong to.
  lib._heif_context_set_maximum_image_size_limit(context, Math.ceil(Math.sqrt(maxPixels)))
  const file = lib._malloc(bytes.length)
  lib.HEAPU8.set(bytes, file)
  attempt(() => lib._heif_context_read_from_memory_without_copy(err, context, file, bytes.length, 0))
  attempt(() => lib._heif_context_get_primary_image_handle(err, context, out))
  const handle = number(out)
  check({
    width: lib._heif_image_handle_get_width(handle),
    height: lib._heif_image_handle_get_height(handle),
  })
  const profile = await profileOf(lib, { handle, err, out, number })
  const channels = lib._heif_image_handle_has_alpha_channel(handle) ? 4 : 3
  attempt(() => lib._heif_decode_image(err, handle, out, RGB, CHROMA[channels], 0))
  const image = number(out)
  const pixels = lib._heif_image_get_plane_readonly(image, INTERLEAVED, out)
  const stride = number(out)
  const width = lib._heif_image_get_width(image, INTERLEAVED)
  const height = lib._heif_image_get_height(image, INTERLEAVED)
  const row = (y: number) => lib.HEAPU8.subarray(pixels + y * stride, pixels + y * stride + width * channels)
  const tiff = tiffOf({ width, height, channels, ...(profile ? { profile } : {}), row })
  return { bytes: tiff, mediaType: 'image/tiff', width, height }
}

/**
 * Each image has an instance of its own, which takes 20 ms: the memory of WebAssembly never shrinks, and a broken file
 * may leave an instance unusable.
 */
function newInstance(): LibHeif {
  const create = createRequire(import.meta.url)('libheif-js/libheif-wasm/libheif-bundle.js') as (
    options: object,
  ) => LibHeif
  const silent = () => {}
  return create({ print: silent, printErr: silent })
}

interface Reading {
  handle: number
  err: number
  out: number
  number(at: number): number
}

/** The colour profile of an image: its ICC profile, or that of Display P3 if the image names its primaries. */
async function profileOf(lib: LibHeif, { handle, err, out, number }: Reading): Promise<Buffer | undefined> {
  const size = lib._heif_image_handle_get_raw_color_profile_size(handle)
  if (size > 0) {
    const at = lib._malloc(size)
    lib._heif_image_handle_get_raw_color_profile(err, handle, at)
    return number(err) === 0 ? Buffer.from(lib.HEAPU8.slice(at, at + size)) : undefined
  }
  lib._heif_image_handle_get_nclx_color_profile(err, handle, out)
  // The primaries follow the version, a byte that is padded to four.
  return number(err) === 0 ? profileOfPrimaries(number(number(out) + 4)) : undefined
}

function textAt(lib: LibHeif, at: number): string {
  return Buffer.from(lib.HEAPU8.subarray(at, lib.HEAPU8.indexOf(0, at))).toString('utf8')
}
