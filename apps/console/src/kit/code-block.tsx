import { Button, CopyButton } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import classes from './code-block.module.css';

interface CodeBlockProps {
  /** The name of the text for screen readers. */
  label: string;
  text: string;
}

/** A text that the user can read and copy unchanged. */
export function CodeBlock({ label, text }: CodeBlockProps) {
  return (
    <div className={classes.frame}>
      <pre className={classes.text} tabIndex={0} role="region" aria-label={label} dir="ltr">
        {text}
      </pre>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button
            className={classes.copy}
            size="compact-xs"
            variant="default"
            leftSection={copied ? <IconCheck size={13} /> : <IconCopy size={13} />}
            onClick={copy}
          >
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}
