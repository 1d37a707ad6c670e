import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.js';

interface SecretNoticeProps {
  /** Name of the secret. */
  label: string;
  secret: string;
  /** What to do with the secret. */
  children: ReactNode;
  onDone: () => void;
}

/** Shows a secret that the console cannot show again. */
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
        <CopyButton text={secret} size="sm" />
      </Group>
      <Group justify="flex-end">
        <Button onClick={onDone}>Done</Button>
      </Group>
    </Stack>
  );
}
