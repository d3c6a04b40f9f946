/** The settings of the video service. */
export type VideoSettings = {
  /** credits per second by model; replaces the model's own price */
  creditsPerSecond: Readonly<Record<string, number>>;
  initialCredits: number;
  freeTierPaused: boolean;
  retentionDays: number;
  /** base URL of the service for callers; absent: taken from each request */
  publicUrl?: string | undefined;
};
