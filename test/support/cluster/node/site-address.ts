/** Name and label (`app`) of the site's pod and Service. */
export const SITE = 'login-site';
/** Ports of the pod: the site, and a second port that no policy allows. */
export const SITE_PORTS = { site: 8080, other: 8081 };
