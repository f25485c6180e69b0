// Visits and the channel each must get, written by hand from docs/metrics.md (D-20, D-110), never copied from the program's output.
// A line is the query string of the page and the referrer; `-` stands for none.
import type { Channel } from '../../src/traffic/channel.ts'

export interface ChannelCase {
  query: string
  referrer: string
  channel: Channel
}

const table: Record<Channel, string> = {
  'Cross-network': `
    ?utm_source=google&utm_medium=cpc&utm_campaign=cross-network -
    ?utm_source=google&utm_medium=cpc&utm_campaign=2026-Cross-Network-spring https://www.google.com/
    ?utm_campaign=cross-network&gclid=abc -
    ?utm_source=bing&utm_medium=cross-network -
    ?utm_source=facebook&utm_medium=paid&utm_campaign=cross-network https://www.facebook.com/`,
  'Paid Shopping': `
    ?utm_source=amazon&utm_medium=cpc -
    ?utm_source=ebay.de&utm_medium=ppc -
    ?utm_medium=cpc https://www.amazon.co.uk/dp/1
    ?utm_source=google&utm_medium=cpc&utm_campaign=shopping-spring -
    ?utm_source=google&utm_medium=cpc&utm_campaign=summer_shop_sale https://www.google.com/
    ?utm_campaign=Shopping&gclid=abc -
    ?msclkid=abc&utm_campaign=shop -
    ?utm_source=google-shopping&utm_medium=cpc -
    ?gclid=abc https://shopping.google.com/
    ?utm_source=idealo&utm_medium=cpc https://www.idealo.de/
    ?utm_source=facebook&utm_medium=paid_social&utm_campaign=shopping -`,
  'Paid Search': `
    ?gclid=abc -
    ?gbraid=abc -
    ?wbraid=abc -
    ?msclkid=abc -
    ?gclid=abc https://www.google.com/
    ?gclid=abc https://www.google.de/
    ?msclkid=abc https://www.bing.com/
    ?gclid=abc https://news.example/
    ?gclid=abc&utm_source=spring-campaign -
    ?utm_source=google&utm_medium=cpc -
    ?utm_source=Google&utm_medium=CPC -
    ?utm_source=google.com&utm_medium=cpc -
    ?utm_source=www.google.com&utm_medium=cpc -
    ?utm_source=bing&utm_medium=ppc -
    ?utm_source=yahoo&utm_medium=paid -
    ?utm_source=duckduckgo&utm_medium=paidsearch -
    ?utm_source=baidu&utm_medium=paid-search -
    ?utm_source=yandex&utm_medium=cpm -
    ?utm_source=google&utm_medium=retargeting -
    ?utm_medium=cpc https://www.google.co.uk/
    ?utm_medium=ppc https://duckduckgo.com/
    ?utm_source=adwords&utm_medium=cpc -
    ?utm_source=ecosia.org&utm_medium=cpc -
    ?utm_source=partner-7&utm_medium=cpc https://www.google.com/
    ?utm_medium=email&gclid=abc -
    ?utm_source=google&utm_medium=cpc&utm_campaign=workshop -
    ?utm_source=google&utm_medium=display&gclid=abc -`,
  'Paid Social': `
    ?utm_source=facebook&utm_medium=cpc -
    ?utm_source=fb&utm_medium=paid -
    ?utm_source=ig&utm_medium=paid_social https://l.instagram.com/
    ?utm_source=instagram&utm_medium=paidsocial&fbclid=abc -
    ?utm_source=linkedin&utm_medium=cpm -
    ?utm_source=twitter&utm_medium=ppc https://t.co/x
    ?utm_source=x&utm_medium=paid -
    ?utm_source=reddit&utm_medium=cpc https://www.reddit.com/
    ?utm_source=pinterest&utm_medium=retargeting -
    ?utm_medium=cpc https://m.facebook.com/
    ?utm_medium=paid&fbclid=abc https://l.facebook.com/
    ?utm_source=facebook.com&utm_medium=cpc -
    ?utm_source=facebook&utm_medium=paid&utm_campaign=bishop-visit -
    ?utm_source=quora&utm_medium=cpc -
    ?gclid=abc https://www.reddit.com/`,
  'Paid Video': `
    ?utm_source=youtube&utm_medium=cpc -
    ?utm_source=youtube.com&utm_medium=cpv -
    ?gclid=abc https://www.youtube.com/
    ?utm_medium=cpc https://youtu.be/x
    ?utm_source=tiktok&utm_medium=paid -
    ?utm_source=vimeo&utm_medium=ppc https://vimeo.com/
    ?utm_source=twitch&utm_medium=cpm -`,
  Display: `
    ?utm_source=news.example&utm_medium=display -
    ?utm_medium=banner -
    ?utm_medium=Banner https://news.example/
    ?utm_source=partner&utm_medium=expandable -
    ?utm_source=partner&utm_medium=interstitial -
    ?utm_source=partner&utm_medium=cpm -
    ?utm_medium=display&gclid=abc -
    ?utm_source=google&utm_medium=display -
    ?utm_source=facebook&utm_medium=banner -`,
  'Paid Other': `
    ?utm_source=partner&utm_medium=cpc -
    ?utm_source=partner&utm_medium=cpa https://partner.example/
    ?utm_medium=ppc -
    ?utm_medium=paid -
    ?utm_medium=retargeting https://news.example/
    ?utm_source=taboola&utm_medium=cpc -
    ?utm_source=newsletter&utm_medium=cpc -
    ?utm_source=chatgpt.com&utm_medium=cpc -
    ?utm_medium=paid https://claude.ai/
    ?utm_medium=cpc https://mail.google.com/
    ?utm_medium=cpc https://google.example.com/
    ?utm_medium=cpc https://google.evil/`,
  'Organic Shopping': `
    - https://www.amazon.com/dp/1
    - https://www.amazon.de/
    - https://amazon.co.jp/
    - https://www.ebay.com/itm/1
    - https://www.ebay.com.au/
    - https://www.etsy.com/listing/1
    - https://shopping.google.com/
    - https://www.idealo.de/
    - https://shopee.sg/
    - https://www.zalando.fr/
    ?utm_source=walmart -
    ?utm_source=etsy&utm_medium=social -
    ?utm_source=newsletter&utm_medium=email&utm_campaign=shopping-list -
    ?utm_campaign=web-shop https://news.example/
    ?ref=aliexpress.com -`,
  'Organic Social': `
    - https://www.facebook.com/
    - https://l.facebook.com/l.php?u=x
    - https://lm.facebook.com/
    - https://m.facebook.com/
    ?fbclid=abc https://www.facebook.com/
    - https://www.instagram.com/
    - https://l.instagram.com/
    - https://t.co/abc
    - https://x.com/someone
    - https://twitter.com/someone
    - https://www.linkedin.com/feed/
    - https://lnkd.in/x
    - https://www.reddit.com/r/x
    - https://old.reddit.com/r/x
    - https://out.reddit.com/
    - https://www.pinterest.com/
    - https://www.pinterest.de/
    - https://news.ycombinator.com/item?id=1
    - https://bsky.app/
    - https://mastodon.social/@x
    - https://www.threads.com/
    - https://vk.com/
    - https://web.telegram.org/
    - https://web.whatsapp.com/
    - https://blog.naver.com/x
    - https://teams.microsoft.com/
    - android-app://com.facebook.katana/
    - android-app://org.telegram.messenger/
    ?utm_source=facebook -
    ?utm_source=Facebook&utm_medium=post -
    ?utm_source=fb&fbclid=abc -
    ?utm_medium=social -
    ?utm_medium=social-media https://news.example/
    ?utm_medium=social_network -
    ?utm_medium=social%20media -
    ?utm_source=hootsuite.com&utm_medium=sm -
    ?utm_source=linkedin&utm_medium=email -
    ?ref=producthunt -
    ?ref=hn -
    ?source=twitter -
    ?utm_source=acme https://www.facebook.com/`,
  'Organic Video': `
    - https://www.youtube.com/watch?v=x
    - https://m.youtube.com/
    - https://youtu.be/x
    - https://vimeo.com/1
    - https://www.tiktok.com/@x
    - https://vm.tiktok.com/x
    - https://www.twitch.tv/x
    - https://www.bilibili.com/
    - https://www.dailymotion.com/
    - android-app://com.google.android.youtube/
    ?utm_source=youtube -
    ?utm_source=youtube&utm_medium=description -
    ?utm_medium=video https://news.example/
    ?utm_source=partner&utm_medium=online-video -`,
  'AI Assistants': `
    - https://chatgpt.com/
    - https://chat.openai.com/
    ?utm_source=chatgpt.com -
    ?utm_source=chatgpt.com https://chatgpt.com/
    - https://claude.ai/
    - https://gemini.google.com/
    - https://copilot.microsoft.com/
    - https://www.perplexity.ai/
    - https://chat.mistral.ai/
    - https://chat.deepseek.com/
    - https://grok.com/
    - https://www.meta.ai/
    - https://poe.com/
    ?utm_source=perplexity -
    ?ref=claude -
    ?utm_source=openai&utm_medium=organic -
    - android-app://com.openai.chatgpt/`,
  'Organic Search': `
    - https://www.google.com/
    - https://google.com
    - https://www.google.de/
    - https://www.google.co.uk/
    - https://www.google.com.br/
    - https://news.google.com/
    - https://www.bing.com/search?q=x
    - https://cn.bing.com/
    - https://duckduckgo.com/
    - https://html.duckduckgo.com/
    - https://search.yahoo.com/
    - https://de.search.yahoo.com/
    - https://search.yahoo.co.jp/
    - https://yandex.ru/
    - https://yandex.com.tr/
    - https://www.baidu.com/
    - https://m.baidu.com/
    - https://www.ecosia.org/
    - https://www.qwant.com/
    - https://www.startpage.com/
    - https://search.brave.com/
    - https://search.naver.com/
    - https://search.seznam.cz/
    - https://kagi.com/
    - https://go.mail.ru/search
    - https://suche.t-online.de/
    - android-app://com.google.android.googlequicksearchbox/
    ?utm_source=google -
    ?utm_source=google&utm_medium=organic -
    ?utm_source=gmb&utm_medium=organic -
    ?utm_medium=organic https://news.example/
    ?fbclid=abc https://www.google.com/
    ?utm_source=bing&utm_medium=affiliate -
    - https://WWW.GOOGLE.COM:443/`,
  Email: `
    - https://mail.google.com/mail/u/0/
    - https://mail.yahoo.com/
    - https://outlook.live.com/
    - https://outlook.office.com/
    - https://mail.proton.me/
    - https://e.mail.ru/
    - https://mail.qq.com/
    - android-app://com.google.android.gm/
    ?utm_medium=email -
    ?utm_medium=Email -
    ?utm_medium=e-mail -
    ?utm_medium=e_mail -
    ?utm_medium=e%20mail -
    ?utm_medium=newsletter -
    ?utm_source=newsletter -
    ?utm_source=newsletter&utm_medium=weekly https://news.example/
    ?utm_source=mailchimp&utm_medium=email -
    ?utm_source=partner&utm_medium=email https://news.example/
    ?utm_source=email -
    ?ref=newsletter -
    ?utm_source=acme https://mail.google.com/`,
  Affiliates: `
    ?utm_medium=affiliate -
    ?utm_medium=affiliates -
    ?utm_source=partner&utm_medium=Affiliate -
    ?utm_source=partner&utm_medium=affiliate https://partner.example/
    ?ref=partner&utm_medium=affiliate -`,
  Audio: `
    ?utm_medium=audio -
    ?utm_source=spotify&utm_medium=audio -
    ?utm_medium=podcast -
    ?utm_source=somepodcast&utm_medium=Podcast https://podcasts.example/`,
  SMS: `
    ?utm_medium=sms -
    ?utm_source=sms -
    ?utm_source=twilio&utm_medium=SMS -
    ?utm_source=SMS&utm_medium=text -`,
  'Mobile Push Notifications': `
    ?utm_medium=push -
    ?utm_medium=web-push -
    ?utm_medium=notification -
    ?utm_medium=mobile -
    ?utm_medium=app_notification https://news.example/
    ?utm_source=firebase -
    ?utm_source=onesignal&utm_medium=webpush -`,
  Referral: `
    - https://news.example/
    - http://news.example:8080/path?q=1
    - https://www.wikipedia.org/
    - https://en.wikipedia.org/wiki/X
    - https://github.com/x
    - https://google.example.com/
    - https://notgoogle.com/
    - https://facebook.com.evil.example/
    - https://amazon.example/
    - https://linex.me/
    - http://192.0.2.7/
    - http://localhost:3000/
    - https://blog.site.example/
    ?fbclid=abc https://news.example/
    ?utm_source=acme -
    ?utm_source=acme&utm_medium=qr -
    ?ref=friend.example -
    ?source=friend -
    ?utm_medium=referral -
    ?utm_medium=link -
    ?utm_medium=app -
    - android-app://com.example.reader/
    ?utm_source=googly -
    ?utm_campaign=workshop https://news.example/`,
  Direct: `
    - -
    - https://site.example/other
    - https://www.site.example/
    - https://SITE.example:8443/
    - https://shop.site-own.example/
    ?fbclid=abc -
    ?utm_campaign=spring -
    ?utm_medium=qr -
    ?utm_source= -
    ?utm_source=%20%20 -
    ?utm_source=%00%1F -
    ?gclid= -
    ?ref= -
    - about:blank
    - not-a-url
    - javascript:alert(1)
    - file:///etc/hosts
    - data:text/html,x`,
}

export const channelCases: readonly ChannelCase[] = Object.entries(table).flatMap(([channel, lines]) =>
  lines
    .trim()
    .split('\n')
    .map((line) => {
      const [query = '', referrer = ''] = line.trim().split(' ')
      const given = (word: string) => (word === '-' ? '' : word)
      return { query: given(query), referrer: given(referrer), channel: channel as Channel }
    }),
)

/** The site of every case; its second host name does not look like the first. */
export const caseHostnames = ['site.example', 'shop.site-own.example'] as const
