import { Alert, Button, CopyButton, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconCheck, IconCopy, IconKey } from '@tabler/icons-react';
import type { ReactNode } from 'react';

interface SecretNoticeProps {
  /** The name of the secret. */
  label: string;
  secret: string;
  /** Says what to do with the secret. */
  children: ReactNode;
  onDone: () => void;
}

/** Shows a secret that cannot be shown again. */
export function SecretNotice({ label, secret, children, onDone }: SecretNoticeProps) {
  return (
    <Stack>
      <Alert variant="outline" icon={<IconKey aria-hidden />} title="Copy it now: it is not shown again">
        <Text size="sm">{children}</Text>
      </Alert>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <TextInput
          label={label}
          value={secret}
          readOnly
          onFocus={({ currentTarget }) => currentTarget.select()}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          flex={1}
          data-autofocus
        />
        <CopyButton value={secret}>
          {({ copied, copy }) => (
            <Button
              leftSection={copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
              onClick={copy}
              variant="default"
            >
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Group justify="flex-end">
        <Button onClick={onDone}>Done</Button>
      </Group>
    </Stack>
  );
}
