type Child = Node | string | undefined

/** Creates an element. Members of `properties` are set as attributes; functions are event listeners; undefined and false are ignored. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Readonly<Record<string, unknown>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(name, value as EventListener)
    else if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : String(value))
  }
  element.append(...children.filter((child) => child !== undefined))
  return element
}

/** Sets the text of an element, unless it has it: screen readers would read it again. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** Names a button for people and screen readers. */
export function setLabel(button: HTMLElement, label: string): void {
  button.setAttribute('aria-label', label)
  button.title = label
}
