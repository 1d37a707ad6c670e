import classes from './code-block.module.css';
import { CopyButton } from './copy-button.js';

interface CodeBlockProps {
  /** Label for screen readers. */
  label: string;
  text: string;
}

/** A text that users can read and copy unchanged. */
export function CodeBlock({ label, text }: CodeBlockProps) {
  return (
    <div className={classes.frame}>
      <pre className={classes.text} tabIndex={0} role="region" aria-label={label} dir="ltr">
        {text}
      </pre>
      <CopyButton className={classes.copy} size="compact-xs" text={text} />
    </div>
  );
}
