// Paths of icons in a square of 24 units, drawn with a line.
const PATHS = {
  upload: 'M12 16V5m0 0L7.5 9.5M12 5l4.5 4.5M4 15v3a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-3',
  folder: 'M3 7a2 2 0 0 1 2-2h4l2 2.5h8a2 2 0 0 1 2 2V17a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z',
  camera:
    'M4 8.5A1.5 1.5 0 0 1 5.5 7H8l1.5-2.5h5L16 7h2.5A1.5 1.5 0 0 1 20 8.5v9a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 4 17.5zM15.5 13a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0z',
  file: 'M6 3.5h7.5L19 9v10a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 5 19V5a1.5 1.5 0 0 1 1-1.5zM13 4v5.5h5.5',
  pause: 'M9 6v12M15 6v12',
  resume: 'M8 5.5v13l10.5-6.5z',
  retry: 'M19 12a7 7 0 1 1-2.2-5.1L19 9m0-4.5V9h-4.5',
  remove: 'M6.5 6.5l11 11m0-11l-11 11',
  done: 'M5.5 12.5l4.5 4.5 8.5-9.5',
  failed: 'M12 7v6m0 3.5v.1',
}

/** The name of an icon. */
export type Icon = keyof typeof PATHS

const SVG = 'http://www.w3.org/2000/svg'

/** Draws an icon, which screen readers ignore. */
export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', PATHS[name])
  svg.append(path)
  return svg
}
