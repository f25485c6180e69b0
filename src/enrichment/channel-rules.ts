// Which domains are search engines, social networks and so on, maintained by hand. Data only; channel.ts holds the logic. A domain
// includes its subdomains, and the longest match decides, so mail.google.com is mail although google.* is search. `name.*` stands for
// the name with the ending of any country.

export type SourceKind = 'search' | 'social' | 'video' | 'shopping' | 'mail' | 'assistant'

const words = (text: string): string[] => text.trim().split(/\s+/)

export const domains: Readonly<Record<SourceKind, readonly string[]>> = {
  search: words(`
    google.* bing.com yahoo.*  duckduckgo.com yandex.* ya.ru baidu.com so.com sogou.com
    sm.cn ecosia.org qwant.com startpage.com search.brave.com ask.com aol.com naver.com daum.net nate.com
    seznam.cz go.mail.ru nova.rambler.ru coccoc.com swisscows.com mojeek.com metager.org metager.de kagi.com
    presearch.com you.com dogpile.com excite.com lycos.com webcrawler.com infospace.com gibiru.com searchencrypt.com
    mysearch.com info.com onet.pl szukaj.wp.pl virgilio.it suche.t-online.de suche.web.de suche.gmx.net lilo.org
    alohafind.com petalsearch.com yep.com marginalia-search.com searx.be neeva.com sapo.pt walla.co.il eniro.se
    com.google.android.googlequicksearchbox`),
  social: words(`
    facebook.com fb.com fb.me messenger.com m.me instagram.com threads.net threads.com twitter.com x.com t.co linkedin.com
    lnkd.in pinterest.* pin.it reddit.com redd.it tumblr.com snapchat.com whatsapp.com wa.me telegram.org telegram.me t.me
    vk.com vk.ru ok.ru weibo.com weibo.cn weixin.qq.com qzone.qq.com zhihu.com douban.com xiaohongshu.com
    line.me discord.com discord.gg slack.com news.ycombinator.com lobste.rs producthunt.com quora.com medium.com
    stackoverflow.com stackexchange.com mastodon.social mastodon.online mstdn.social hachyderm.io fosstodon.org bsky.app
    truthsocial.com gab.com meetup.com nextdoor.com xing.com goodreads.com flickr.com deviantart.com livejournal.com
    myspace.com skyrock.com taringa.net hatena.ne.jp note.com kakao.com band.us plurk.com
    blog.naver.com cafe.naver.com tieba.baidu.com my.mail.ru
    disqus.com digg.com slashdot.org buffer.com hootsuite.com linktr.ee lemmy.world kbin.social teams.microsoft.com
    com.facebook.katana com.facebook.orca com.instagram.android com.twitter.android com.linkedin.android com.reddit.frontpage
    com.pinterest com.slack org.telegram.messenger com.whatsapp`),
  video: words(`
    youtube.com youtu.be youtube-nocookie.com vimeo.com dailymotion.com dai.ly twitch.tv tiktok.com
    rumble.com odysee.com bitchute.com peertube.tv bilibili.com b23.tv youku.com iqiyi.com nicovideo.jp
    rutube.ru v.qq.com wistia.com loom.com netflix.com hulu.com disneyplus.com ted.com kick.com veoh.com metacafe.com
    com.google.android.youtube com.zhiliaoapp.musically`),
  shopping: words(`
    amazon.* amzn.to ebay.* etsy.com aliexpress.com aliexpress.us alibaba.com taobao.com tmall.com jd.com walmart.com
    target.com bestbuy.com shopping.google.com shopping.yahoo.co.jp shopping.naver.com shopee.* lazada.* rakuten.com
    rakuten.co.jp mercadolibre.* mercadolivre.com.br zalando.* otto.de idealo.* geizhals.at geizhals.de billiger.de
    allegro.pl bol.com cdiscount.com fnac.com flipkart.com myntra.com ozon.ru wildberries.ru temu.com shein.com wish.com
    wayfair.com newegg.com shop.app shopify.com shopzilla.com pricegrabber.com kelkoo.* pricerunner.com pricespy.co.uk
    trovaprezzi.it ceneo.pl heureka.cz trendyol.com hepsiburada.com noon.com coupang.com`),
  mail: words(`
    mail.google.com gmail.com outlook.live.com outlook.office.com outlook.office365.com outlook.com hotmail.com mail.live.com
    mail.yahoo.com mail.yahoo.co.jp mail.aol.com mail.yandex.ru mail.yandex.com mail.ru mail.proton.me
    protonmail.com mail.zoho.com mail.zoho.eu icloud.com fastmail.com app.tuta.com mail.tutanota.com
    navigator.gmx.net navigator.web.de email.t-online.de mail.163.com mail.126.com mail.qq.com mail.naver.com mail.daum.net
    poczta.onet.pl poczta.wp.pl email.seznam.cz webmail.free.fr hey.com
    com.google.android.gm com.microsoft.office.outlook com.yahoo.mobile.client.android.mail`),
  assistant: words(`
    chatgpt.com openai.com claude.ai gemini.google.com bard.google.com copilot.microsoft.com
    copilot.cloud.microsoft perplexity.ai deepseek.com chat.mistral.ai grok.com x.ai meta.ai poe.com
    phind.com character.ai pi.ai chat.qwen.ai kimi.com kimi.ai moonshot.cn doubao.com yuanbao.tencent.com chatglm.cn
    notebooklm.google.com duck.ai andisearch.com iask.ai komo.ai felo.ai genspark.ai t3.chat lmarena.ai
    com.openai.chatgpt com.anthropic.claude`),
}

/** Names for these domains that people use in utm_source, in lower case. */
export const names: Readonly<Record<SourceKind, readonly string[]>> = {
  search: words(
    'google bing yahoo duckduckgo yandex baidu ecosia qwant startpage brave naver daum seznam adwords google-ads googleads',
  ),
  social: words(`
    facebook fb ig instagram threads twitter x linkedin pinterest reddit tumblr snapchat whatsapp telegram vk weibo wechat line
    discord slack hackernews hn producthunt quora medium mastodon bluesky bsky xing meta facebook-ads facebookads facebook_ads`),
  video: words('youtube vimeo dailymotion twitch tiktok rumble bilibili'),
  shopping: words(
    'amazon ebay etsy aliexpress walmart shopify google-shopping googleshopping google_shopping idealo shopping',
  ),
  mail: words('email e-mail e_mail mail newsletter gmail outlook hotmail mailchimp sendgrid substack klaviyo brevo'),
  assistant: words('chatgpt openai claude anthropic gemini copilot perplexity deepseek grok mistral'),
}
