import sharp from 'sharp'
import { pseudorandom } from '../pseudorandom.js'

const [WIDTH, HEIGHT] = [2400, 1600]

/** Colours of a landscape: of the sky from the top to the horizon, of the sun, and of the ridges from far to near. */
const LIGHT = {
  dawn: { sky: ['#3b4a7a', '#e58f7b', '#fbd9a5'], sun: '#fff1cf', land: ['#a77f92', '#6d5578', '#2f2a48'] },
  day: { sky: ['#2f7dc0', '#8fc4e8', '#e2f1f8'], sun: '#ffffff', land: ['#8fb1bd', '#4f8268', '#1f4b3a'] },
  dusk: { sky: ['#1d1b4b', '#8a3a78', '#f4845f'], sun: '#ffd6a0', land: ['#73365f', '#45264f', '#190f2c'] },
  desert: { sky: ['#4c97b8', '#bcdad6', '#f8e6c4'], sun: '#fff8e4', land: ['#e2ab72', '#c9793f', '#7f3d20'] },
  winter: { sky: ['#6d8fb3', '#b9cfe0', '#f3f5f7'], sun: '#ffffff', land: ['#dfe8f0', '#a9bfd2', '#4c6580'] },
  night: { sky: ['#040818', '#0e2347', '#2b5a78'], sun: '#f5f0d8', land: ['#17344f', '#0d2036', '#050c18'] },
}

/** The pictures of the screenshots: a name, the time of day, what is in front, and a seed for the shapes. */
export const SCENES = [
  { name: 'fjord-at-dawn', light: 'dawn', front: 'water', seed: 3 },
  { name: 'pine-forest', light: 'day', front: 'trees', seed: 5 },
  { name: 'red-dunes', light: 'desert', front: 'ridge', seed: 11 },
  { name: 'harbour-skyline', light: 'dusk', front: 'city', seed: 7 },
  { name: 'first-snow', light: 'winter', front: 'trees', seed: 21 },
  { name: 'lake-at-night', light: 'night', front: 'water', seed: 9 },
  { name: 'summer-coast', light: 'day', front: 'water', seed: 14 },
  { name: 'old-town', light: 'dawn', front: 'city', seed: 31 },
  { name: 'canyon', light: 'desert', front: 'trees', seed: 17 },
  { name: 'evening-ridge', light: 'dusk', front: 'ridge', seed: 25 },
  { name: 'glacier', light: 'winter', front: 'water', seed: 33 },
  { name: 'city-lights', light: 'night', front: 'city', seed: 4 },
]

/** Draws a landscape, always the same for a seed. @returns {Promise<Buffer>} a JPEG of 2400 x 1600 px */
export function drawScene({ light, front, seed }) {
  const random = pseudorandom(seed)
  const { sky, sun, land } = LIGHT[light]
  const horizon = HEIGHT * (0.52 + random() * 0.1)
  // Trees and houses are the nearest ridge themselves.
  const far = front === 'trees' || front === 'city' ? land.slice(0, 2) : land
  const ridges = far.map((fill, i) => {
    const level = horizon + (i - 1) * 150 + (front === 'water' ? -60 : 40)
    return shape(ridge({ level, height: 260 - i * 70, random }), fill)
  })
  const sunX = WIDTH * (0.2 + random() * 0.6)
  const drawn = { water, trees, city, ridge: () => '' }[front]({ horizon, random, colour: land[2], sky })
  const stops = sky.map((colour, i) => `<stop offset="${i / 2}" stop-color="${colour}"/>`).join('')
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">
    <linearGradient id="sky" x2="0" y2="0.72">${stops}</linearGradient>
    <radialGradient id="glow"><stop stop-color="${sun}" stop-opacity="0.85"/><stop offset="1" stop-color="${sun}" stop-opacity="0"/></radialGradient>
    <rect width="100%" height="100%" fill="url(#sky)"/>
    ${light === 'night' ? stars(random) : ''}
    <circle cx="${sunX}" cy="${horizon - 330}" r="520" fill="url(#glow)" opacity="0.7"/>
    <circle cx="${sunX}" cy="${horizon - 330}" r="92" fill="${sun}"/>
    ${ridges.join('')}${drawn}
  </svg>`
  return sharp(Buffer.from(svg)).jpeg({ quality: 88 }).toBuffer()
}

/** Points of a mountain range: waves of ever smaller length and height. */
function ridge({ level, height, random }) {
  const waves = [1, 2, 4, 9, 20, 45].map((n) => ({ n, phase: random() * 7, height: height / n ** 0.9 }))
  return Array.from({ length: 161 }, (_, i) => {
    const x = (i * WIDTH) / 160
    const sum = waves.reduce(
      (y, wave) => y + Math.sin((x / WIDTH) * wave.n * 6 + wave.phase) * wave.height,
      0,
    )
    return [x, level - sum / 2]
  })
}

function shape(points, fill) {
  const line = points.map(([x, y]) => `${x.toFixed()},${y.toFixed()}`).join(' ')
  return `<polygon points="0,${HEIGHT} ${line} ${WIDTH},${HEIGHT}" fill="${fill}"/>`
}

/** A surface that reflects the sky, with streaks of light. */
function water({ horizon, random, sky }) {
  const top = horizon + 170
  const streaks = Array.from({ length: 70 }, () => {
    const y = top + random() ** 1.6 * (HEIGHT - top)
    const width = 90 + random() * 420 * ((y - top) / 400)
    return `<rect x="${(random() * WIDTH).toFixed()}" y="${y.toFixed()}" width="${width.toFixed()}" height="${(3 + (y - top) / 60).toFixed()}" rx="4" fill="#fff" opacity="${(0.06 + random() * 0.16).toFixed(2)}"/>`
  })
  return `<linearGradient id="water" x2="0" y2="1"><stop stop-color="${sky[2]}"/><stop offset="0.35" stop-color="${sky[1]}"/><stop offset="1" stop-color="${sky[0]}"/></linearGradient>
    <rect y="${top}" width="100%" height="${HEIGHT - top}" fill="url(#water)"/>${streaks.join('')}`
}

function trees({ random, colour }) {
  const count = 170
  return Array.from({ length: count }, (_, i) => {
    const x = random() * WIDTH
    const size = 130 + (i / count) * 260
    // From far to near.
    const base = HEIGHT - 330 + (i / count) * 420
    const layers = [1, 0.72, 0.46].map((part, i) => {
      const y = base - size * i * 0.34
      return `<polygon points="${x - size * part * 0.26},${y} ${x},${y - size * part * 0.8} ${x + size * part * 0.26},${y}"/>`
    })
    return `<g fill="${colour}" opacity="${(0.45 + (i / count) * 0.55).toFixed(2)}">${layers.join('')}</g>`
  }).join('')
}

function city({ random, colour }) {
  let [x, houses] = [0, '']
  while (x < WIDTH) {
    const width = 70 + random() * 130
    const height = 160 + random() ** 2 * 620
    const top = HEIGHT - height
    houses += `<rect x="${x}" y="${top}" width="${width}" height="${height}" fill="${colour}"/>`
    for (let y = top + 26; y < HEIGHT - 40; y += 46)
      for (let window = x + 16; window < x + width - 24; window += 34)
        if (random() > 0.55)
          houses += `<rect x="${window}" y="${y}" width="14" height="20" fill="#ffd98a" opacity="${(0.5 + random() * 0.5).toFixed(2)}"/>`
    x += width + 6
  }
  return houses
}

function stars(random) {
  return Array.from(
    { length: 260 },
    () =>
      `<circle cx="${random() * WIDTH}" cy="${random() * 800}" r="${1 + random() * 2.4}" fill="#fff" opacity="${random()}"/>`,
  ).join('')
}
