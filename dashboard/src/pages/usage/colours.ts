/** How many lines a chart can have: each has a colour of its own in styles.css. */
export const COLOURS_MAX = 6

/** The colour of a line, for the property `style`. */
export const colourOf = (at: number) => `var(--chart-${at + 1})`

/** The value of a CSS colour in the current theme, for a canvas. */
export function resolvedColour(element: HTMLElement, colour: string): string {
  const probe = document.createElement('span')
  probe.style.color = colour
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
