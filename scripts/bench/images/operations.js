import sharp from 'sharp'

// Each request has another width, so it is always a new derivative. These values are the same in all requests.
const LETTERS = 'Sluice'
const HEIGHT = 400

/**
 * The query of a URL, and the equivalent calls of sharp. Each request has its own width (`w`, from 500), and the output
 * is JPEG unless `encode` is set.
 *
 * @type {{name: string, query: (w: number, logo: string) => string, edit: (image: import('sharp').Sharp, w: number,
 *   logo: string) => unknown, encode?: (image: import('sharp').Sharp) => import('sharp').Sharp, share?: number}[]}
 *   `logo` is the key of another image, or its file; `share` is a factor for the usual number of requests
 */
export const OPERATIONS = [
  { name: 'resize', query: (w) => `w=${w}`, edit: (image, w) => image.resize(w) },
  {
    name: 'cover',
    query: (w) => `w=${w}&h=${HEIGHT}`,
    edit: (image, w) => image.resize(w, HEIGHT),
  },
  {
    name: 'contain',
    query: (w) => `w=${w}&h=${HEIGHT}&fit=contain`,
    edit: (image, w) => image.resize(w, HEIGHT, { fit: 'contain', background: '#fff' }),
  },
  {
    name: 'fill',
    query: (w) => `w=${w}&h=${HEIGHT}&fit=fill`,
    edit: (image, w) => image.resize(w, HEIGHT, { fit: 'fill' }),
  },
  {
    name: 'attention',
    query: (w) => `w=${w}&h=${HEIGHT}&func=auto`,
    edit: (image, w) => image.resize(w, HEIGHT, { position: 'attention' }),
  },
  {
    name: 'crop',
    query: (w) => `crop=300,200,2000,1500&w=${w}`,
    edit: (image, w) => image.extract({ left: 300, top: 200, width: 2000, height: 1500 }).resize(w),
  },
  { name: 'rotate-90', query: (w) => `w=${w}&rotate=90`, edit: (image, w) => image.resize(w).rotate(90) },
  {
    name: 'rotate-30',
    query: (w) => `w=${w}&rotate=30`,
    edit: (image, w) => image.resize(w).rotate(30, { background: '#fff' }),
  },
  { name: 'flip', query: (w) => `w=${w}&flip`, edit: (image, w) => image.resize(w).flip() },
  { name: 'blur', query: (w) => `w=${w}&blur=5`, edit: (image, w) => image.resize(w).blur(5) },
  { name: 'sharpen', query: (w) => `w=${w}&sharpen`, edit: (image, w) => image.resize(w).sharpen() },
  { name: 'greyscale', query: (w) => `w=${w}&greyscale`, edit: (image, w) => image.resize(w).greyscale() },
  {
    name: 'saturation',
    query: (w) => `w=${w}&saturation=1.5`,
    edit: (image, w) => image.resize(w).modulate({ saturation: 1.5 }),
  },
  {
    name: 'pad',
    query: (w) => `w=${w}&pad=20`,
    edit: (image, w) => {
      const background = '#fff'
      return image.resize(w).extend({ top: 20, right: 20, bottom: 20, left: 20, background })
    },
  },
  {
    name: 'radius',
    query: (w) => `w=${w}&h=${HEIGHT}&rs=10&f=webp`,
    edit: (image, w) =>
      image.resize(w, HEIGHT).composite([{ input: roundedRectangle(w, HEIGHT), blend: 'dest-in' }]),
    encode: (image) => image.webp({ quality: 75 }),
  },
  {
    name: 'watermark',
    query: (w, logo) => `w=${w}&wm=${encodeURIComponent(logo)}`,
    edit: async (image, w, logo) => {
      const input = await sharp(logo)
        .resize(Math.round(w / 4))
        .toBuffer()
      image.resize(w).composite([{ input }])
    },
  },
  {
    name: 'text',
    query: (w) => `w=${w}&text=${LETTERS}`,
    edit: (image, w) => {
      const text = {
        text: `<span foreground="white">${LETTERS}</span>`,
        font: 'sans 32',
        dpi: 72,
        rgba: true,
      }
      return image.resize(w).composite([{ input: { text } }])
    },
  },
  {
    name: 'webp',
    query: (w) => `w=${w}&f=webp`,
    edit: (image, w) => image.resize(w),
    encode: (image) => image.webp({ quality: 75 }),
  },
  {
    name: 'png',
    query: (w) => `w=${w}&f=png`,
    edit: (image, w) => image.resize(w),
    encode: (image) => image.png({ adaptiveFiltering: true }),
  },
  {
    name: 'avif',
    query: (w) => `w=${w}&f=avif`,
    edit: (image, w) => image.resize(w),
    encode: (image) => image.avif({ quality: 55, effort: 2 }),
    share: 1 / 4,
  },
]

function roundedRectangle(width, height) {
  const rectangle = `<rect width="${width}" height="${height}" rx="${width / 10}" ry="${height / 10}"/>`
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${rectangle}</svg>`,
  )
}
