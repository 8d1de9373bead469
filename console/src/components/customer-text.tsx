import { Fragment } from 'react'
import classes from './customer-text.module.css'

const control = /(\p{Bidi_Control})/u

const codeOf = (character: string) =>
  `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`

/**
 * Shows a name or an id that customers may influence. Its direction does not affect the text around it, and characters that change the
 * order of others are shown by their codes instead.
 */
export function CustomerText({ children: text }: { readonly children: string }) {
  return (
    <bdi>
      {control.test(text)
        ? text.split(control).map((part, i) =>
            i % 2 === 0 ? (
              <Fragment key={i}>{part}</Fragment>
            ) : (
              <span key={i} className={classes.control} title="This character changes the direction of text.">
                {codeOf(part)}
              </span>
            ),
          )
        : text}
    </bdi>
  )
}

/** Returns a text that shows those characters by their codes, for titles and labels. */
export const visibleText = (text: string): string =>
  text.replaceAll(/\p{Bidi_Control}/gu, (character) => `[${codeOf(character)}]`)
