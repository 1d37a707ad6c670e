import { Stack, Text, ThemeIcon, Title } from '@mantine/core';
import type { Icon } from '@tabler/icons-react';
import type { ReactNode } from 'react';

interface EmptyNoticeProps {
  icon: Icon;
  title: string;
  /** Why the list is empty and what to do. */
  children?: ReactNode;
}

/** Shown instead of an empty list. */
export function EmptyNotice({ icon: Symbol, title, children }: EmptyNoticeProps) {
  return (
    <Stack align="center" gap="xs" py={64} px="md">
      <ThemeIcon size={48} radius="xl" variant="light" color="gray">
        <Symbol size={24} aria-hidden />
      </ThemeIcon>
      <Title order={2} size="h4">
        {title}
      </Title>
      <Text c="dimmed" size="sm" ta="center" maw={460} component="div">
        {children}
      </Text>
    </Stack>
  );
}
